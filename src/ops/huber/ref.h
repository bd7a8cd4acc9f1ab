#include "ops/families/loss/loss_dims.h"

/* d->a: delta. */
LOSS_REF(huber, fabs(x - t) <= (real)d->a ? (x - t) * (x - t) / 2
                                          : (real)d->a * (fabs(x - t) - (real)d->a / 2))
LOSS_GRAD_REF(huber, x - t > (real)d->a ? (real)d->a : x - t < -(real)d->a ? -(real)d->a : x - t)
