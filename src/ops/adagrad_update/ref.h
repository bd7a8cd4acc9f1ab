#include "ops/adagrad_update/dims.h"

/* Adagrad. out: {param, sum}, each [n] and the memory of the input of that name or a copy of it;
   lr, step: [1]. */
static void adagrad_update_ref(real* const* out, const real* param, const real* grad,
                               const real* lr, const int32_t* step, const real* sum,
                               const adagrad_dims* d) {
  const real rate = (real)adagrad_rate(d, (double)*lr, *step);
  const real epsilon = (real)d->epsilon;
  const real decay = (real)d->weight_decay;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real s = sum[i] + g * g;
    out[1][i] = s;
    out[0][i] = param[i] - rate * g / ((real)sqrt(s) + epsilon);
  }
}
