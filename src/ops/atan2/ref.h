BINARY_REF(atan2, atan2(a, b))
