#include "ops/lamb_update/dims.h"

/* What Adam would subtract from element i for a rate of 1. */
static real lamb_step(real param, real m, real v, int step, const lamb_dims* d) {
  const real root = (real)lamb_root(d, step) * (real)sqrt(v) + (real)d->epsilon;
  return (real)lamb_first(d, step) * m / root + (real)d->weight_decay * param;
}

/* LAMB. out: {param, exp_avg, exp_avg_sq}, each [n] and the memory of the input of that name or a
   copy of it; m = exp_avg, v = exp_avg_sq; lr, step: [1]. */
static void lamb_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const real* m_, const real* v_,
                            const lamb_dims* d) {
  const real share1 = (real)(1.0 - d->beta1);
  const real beta2 = (real)d->beta2;
  const real share2 = (real)(1.0 - d->beta2);
  double param_squares = 0.0;
  double step_squares = 0.0;
  for (int i = 0; i < d->n; ++i) {
    const real g = d->maximize ? -grad[i] : grad[i];
    const real m = m_[i] + share1 * (g - m_[i]);
    const real v = beta2 * v_[i] + share2 * g * g;
    const real r = lamb_step(param[i], m, v, *step, d);
    out[1][i] = m;
    out[2][i] = v;
    param_squares += (double)param[i] * (double)param[i];
    step_squares += (double)r * (double)r;
  }
  const real rate = (real)lamb_rate((double)*lr, param_squares, step_squares);
  for (int i = 0; i < d->n; ++i) {
    out[0][i] = param[i] - rate * lamb_step(param[i], out[1][i], out[2][i], *step, d);
  }
}
