UNARY_REF(affine, d->a* x + d->b)
