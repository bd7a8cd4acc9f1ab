/* Adam and its relatives, for a ref.h to include. Plain C99: also emitted for devices. */
#include "ops/families/update/adam_dims.h"

/* Adam and AdamW. out: {param, exp_avg, exp_avg_sq, max_exp_avg_sq where given}, each [n] and the
   memory of the input of that name or a copy of it; m = exp_avg, v = exp_avg_sq, top =
   max_exp_avg_sq or NULL; lr, step: [1]. */
static void adam_ref(real* const* out, const real* param, const real* grad, const real* lr,
                     const int32_t* step, const real* m_, const real* v_, const real* top,
                     const adam_dims* d) {
  const adam_factors factors = adam_factors_at(d, (double)*lr, *step);
  const real shrink = (real)factors.shrink;
  const real step_size = (real)factors.step_size;
  const real root = (real)factors.root;
  const real share1 = (real)(1.0 - d->beta1);
  const real beta2 = (real)d->beta2;
  const real share2 = (real)(1.0 - d->beta2);
  const real epsilon = (real)d->epsilon;
  const real decay = (real)(d->decoupled ? 0.0 : d->weight_decay);
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real m = m_[i] + share1 * (g - m_[i]);
    const real v = beta2 * v_[i] + share2 * g * g;
    real spread = v;
    out[1][i] = m;
    out[2][i] = v;
    if (top) {
      spread = v > top[i] ? v : top[i];
      out[3][i] = spread;
    }
    out[0][i] = shrink * param[i] - step_size * m / (root * (real)sqrt(spread) + epsilon);
  }
}
