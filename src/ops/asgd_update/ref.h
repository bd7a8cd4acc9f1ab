#include "ops/asgd_update/dims.h"

/* Averaged stochastic gradient descent. out: {param, ax, eta}, the last [1], the others [n], each
   the memory of the input of that name or a copy of it; lr, step: [1]. */
static void asgd_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const real* ax, const real* eta,
                            const asgd_dims* d) {
  const asgd_factors factors = asgd_factors_at(d, (double)*lr, *step, (double)*eta);
  const real rate = (real)factors.rate;
  const real shrink = (real)factors.shrink;
  const real share = (real)factors.share;
  const real decay = (real)d->weight_decay;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real p = shrink * param[i] - rate * g;
    out[1][i] = share == 1 ? p : ax[i] + share * (p - ax[i]);
    out[0][i] = p;
  }
  *out[2] = (real)factors.next;
}
