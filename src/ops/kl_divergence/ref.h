#include "ops/families/loss/loss_dims.h"

/* d->a: 1 where t is a logarithm. */
LOSS_REF(kl_divergence, d->a != 0 ? exp(t) * (t - x) : t == 0 ? 0 : t * (log(t) - x))
LOSS_GRAD_REF(kl_divergence, d->a != 0 ? -exp(t) : -t)
LOSS_GRAD_REF(kl_divergence_target, d->a != 0 ? exp(t) * (t - x + 1) : log(t) - x + 1)
