#include "ops/families/loss/loss_dims.h"

LOSS_REF(binary_cross_entropy_with_logits, (x > 0 ? x : 0) - x * t + log1p(exp(-fabs(x))))
LOSS_GRAD_REF(binary_cross_entropy_with_logits, 1 / (1 + exp(-x)) - t)
LOSS_GRAD_REF(binary_cross_entropy_with_logits_target, -x)
