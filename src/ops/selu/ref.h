#include "ops/families/unary/unary_dims.h"

#define SELU_SCALE ((real)1.0507009873554804934193349852946)
#define SELU_ALPHA ((real)1.6732632423543772848170429916717)
UNARY_REF(selu, SELU_SCALE*(x > 0 ? x : SELU_ALPHA * expm1(x)))
UNARY_GRAD_REF(selu, y, y > 0 ? dy * SELU_SCALE : dy * (y + SELU_SCALE * SELU_ALPHA))
#undef SELU_SCALE
#undef SELU_ALPHA
