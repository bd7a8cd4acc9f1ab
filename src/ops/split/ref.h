SEPARATE_REF(split)
JOIN_REF(split_grad)
