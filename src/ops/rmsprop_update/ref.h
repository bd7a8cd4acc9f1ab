#include "ops/rmsprop_update/dims.h"

/* RMSProp. out: {param, square_avg, then grad_avg if centered, then momentum_buffer if momentum},
   each [n] and the memory of the input of that name or a copy of it; v = square_avg, second and
   third: the further states or NULL; lr, step: [1]. The variance of the centered form is kept from
   falling below 0 by rounding. */
static void rmsprop_update_ref(real* const* out, const real* param, const real* grad,
                               const real* lr, const int32_t* step, const real* v_,
                               const real* second, const real* third, const rmsprop_dims* d) {
  const real rate = *lr;
  const real alpha = (real)d->alpha;
  const real share = (real)(1.0 - d->alpha);
  const real epsilon = (real)d->epsilon;
  const real momentum = (real)d->momentum;
  const real decay = (real)d->weight_decay;
  const real* buffer = momentum == 0 ? NULL : d->centered ? third : second;
  real* buffer_out = buffer ? out[d->centered ? 3 : 2] : NULL;
  (void)step;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real v = alpha * v_[i] + share * g * g;
    real spread = v;
    out[1][i] = v;
    if (d->centered) {
      const real mean = second[i] + share * (g - second[i]);
      out[2][i] = mean;
      spread = v - mean * mean;
      spread = spread > 0 ? spread : 0;
    }
    const real root =
        d->epsilon_inside_root ? (real)sqrt(spread + epsilon) : (real)sqrt(spread) + epsilon;
    real change = g / root;
    if (buffer) {
      change += momentum * buffer[i];
      buffer_out[i] = change;
    }
    out[0][i] = param[i] - rate * change;
  }
}
