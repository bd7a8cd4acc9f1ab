BINARY_REF(div, a / b)
