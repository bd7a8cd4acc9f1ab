#include "ops/sign_sgd_update/dims.h"

/* Descent by signs. out: {param [n], momentum_buffer [n] if momentum}, each the memory of the input
   of that name or a copy of it; buffer: [n] or NULL; lr, step: [1]. The sign of 0 is 0, that of NaN
   is NaN. */
static void sign_sgd_update_ref(real* const* out, const real* param, const real* grad,
                                const real* lr, const int32_t* step, const real* buffer,
                                const sign_sgd_dims* d) {
  const real shrink = (real)(d->decoupled ? 1.0 - (double)*lr * d->weight_decay : 1.0);
  const real share = (real)(1.0 - d->momentum);
  const real decay = (real)(d->decoupled ? 0.0 : d->weight_decay);
  (void)step;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    if (buffer) {
      g = buffer[i] + share * (g - buffer[i]);
      out[1][i] = g;
    }
    const real sign = g > 0 ? 1 : g < 0 ? -1 : g;
    out[0][i] = shrink * param[i] - *lr * sign;
  }
}
