BINARY_REF(sub, a - b)
