JOIN_REF(concat)
