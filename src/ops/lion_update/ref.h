#include "ops/lion_update/dims.h"

/* Lion. out: {param, exp_avg}, each [n] and the memory of the input of that name or a copy of it;
   m = exp_avg; lr, step: [1]. The sign of 0 is 0, that of NaN is NaN. */
static void lion_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const real* m, const lion_dims* d) {
  const real shrink = (real)(1.0 - (double)*lr * d->weight_decay);
  const real share1 = (real)(1.0 - d->beta1);
  const real share2 = (real)(1.0 - d->beta2);
  (void)step;
  for (int i = 0; i < d->n; ++i) {
    const real g = d->maximize ? -grad[i] : grad[i];
    const real c = m[i] + share1 * (g - m[i]);
    const real sign = c > 0 ? 1 : c < 0 ? -1 : c;
    out[1][i] = m[i] + share2 * (g - m[i]);
    out[0][i] = shrink * param[i] - *lr * sign;
  }
}
