#include "ops/families/loss/loss_dims.h"

LOSS_REF(mse, (x - t) * (x - t))
LOSS_GRAD_REF(mse, 2 * (x - t))
