BINARY_REF(add, a + b)
