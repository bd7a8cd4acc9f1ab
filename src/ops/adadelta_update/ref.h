#include "ops/adadelta_update/dims.h"

/* Adadelta. out: {param, square_avg, acc_delta}, each [n] and the memory of the input of that name
   or a copy of it; v = square_avg, acc = acc_delta; lr, step: [1]. */
static void adadelta_update_ref(real* const* out, const real* param, const real* grad,
                                const real* lr, const int32_t* step, const real* v_,
                                const real* acc, const adadelta_dims* d) {
  const real rho = (real)d->rho;
  const real share = (real)(1.0 - d->rho);
  const real epsilon = (real)d->epsilon;
  const real decay = (real)d->weight_decay;
  (void)step;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    const real v = rho * v_[i] + share * g * g;
    const real delta = (real)sqrt(acc[i] + epsilon) / (real)sqrt(v + epsilon) * g;
    out[1][i] = v;
    out[2][i] = rho * acc[i] + share * delta * delta;
    out[0][i] = param[i] - *lr * delta;
  }
}
