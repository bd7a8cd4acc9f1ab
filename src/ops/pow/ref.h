#include "ops/families/binary/binary_dims.h"
#include "ops/families/unary/unary_dims.h"

/* Of two tensors: a to the power of b, and its slopes along a and along b. */
BINARY_REF(pow_tensor, pow(a, b))
BINARY_REF(pow_tensor_slope, b == 0 ? 0 : b * pow(a, b - 1))
BINARY_REF(pow_tensor_growth, a == 0 && b >= 0 ? 0 : pow(a, b) * log(a))

UNARY_REF(pow, pow(x, (real)d->a))
UNARY_GRAD_REF(pow, x, d->a == 0 ? 0 : dy * d->a * pow(x, (real)d->a - 1))
