BINARY_REF(mul, a* b)
