#include "ops/rprop_update/dims.h"

/* Rprop. out: {param, prev, step_size}, each [n] and the memory of the input of that name or a copy
   of it; sizes: step_size; lr, step: [1]. */
static void rprop_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                             const int32_t* step, const real* prev, const real* sizes,
                             const rprop_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    const real agreement = g * prev[i];
    real size = *step == 1 ? *lr : sizes[i];
    if (agreement > 0) size *= (real)d->eta_plus;
    if (agreement < 0) size *= (real)d->eta_minus;
    if (size < (real)d->smallest) size = (real)d->smallest;
    if (size > (real)d->largest) size = (real)d->largest;
    if (agreement < 0) g = 0;
    out[1][i] = g;
    out[2][i] = size;
    if (g > 0)
      out[0][i] = param[i] - size;
    else if (g < 0)
      out[0][i] = param[i] + size;
    else
      out[0][i] = param[i] - g * size; /* 0, or NaN */
  }
}
