#include "ops/sgd_update/dims.h"

/* Stochastic gradient descent. out: {param [n], momentum_buffer [n] if momentum}, each the memory
   of the input of that name or a copy of it; buffer: [n] or NULL; lr, step: [1]. The first step
   sets the buffer to the gradient, undamped. */
static void sgd_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                           const int32_t* step, const real* buffer, const sgd_dims* d) {
  const real rate = *lr;
  const real momentum = (real)d->momentum;
  const real share = (real)(1.0 - d->dampening);
  const real decay = (real)d->weight_decay;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    if (buffer) {
      const real b = *step == 1 ? g : momentum * buffer[i] + share * g;
      out[1][i] = b;
      g = d->nesterov ? g + momentum * b : b;
    }
    out[0][i] = param[i] - rate * g;
  }
}
