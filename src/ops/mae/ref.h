#include "ops/families/loss/loss_dims.h"

LOSS_REF(mae, fabs(x - t))
LOSS_GRAD_REF(mae, x == t ? 0 : x > t ? 1 : x < t ? -1 : x - t)
