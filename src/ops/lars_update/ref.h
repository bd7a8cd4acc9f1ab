#include "ops/lars_update/dims.h"

/* LARS. out: {param [n], momentum_buffer [n] if momentum}, each the memory of the input of that
   name or a copy of it; buffer: [n] or NULL; lr, step: [1]. */
static void lars_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const real* buffer, const lars_dims* d) {
  const real momentum = (real)d->momentum;
  const real decay = (real)d->weight_decay;
  double param_squares = 0.0;
  double grad_squares = 0.0;
  (void)step;
  for (int i = 0; i < d->n; ++i) {
    param_squares += (double)param[i] * (double)param[i];
    grad_squares += (double)grad[i] * (double)grad[i];
  }
  const real rate = (real)lars_rate(d, (double)*lr, param_squares, grad_squares);
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    real change = rate * g;
    if (buffer) {
      change += momentum * buffer[i];
      out[1][i] = change;
    }
    out[0][i] = param[i] - change;
  }
}
