#include "ops/adamax_update/dims.h"

/* Adamax. out: {param, exp_avg, exp_inf}, each [n] and the memory of the input of that name or a
   copy of it; m = exp_avg, u = exp_inf; lr, step: [1]. */
static void adamax_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                              const int32_t* step, const real* m_, const real* u_,
                              const adamax_dims* d) {
  const real step_size = (real)adamax_step_size(d, (double)*lr, *step);
  const real share1 = (real)(1.0 - d->beta1);
  const real beta2 = (real)d->beta2;
  const real epsilon = (real)d->epsilon;
  const real decay = (real)d->weight_decay;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real m = m_[i] + share1 * (g - m_[i]);
    const real u = (real)fmax(beta2 * u_[i], (real)fabs(g) + epsilon);
    out[1][i] = m;
    out[2][i] = u;
    out[0][i] = param[i] - step_size * m / u;
  }
}
