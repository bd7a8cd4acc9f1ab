#include "ops/average_weights/dims.h"

/* average_out: [n], the memory of average: [n] or a copy of it. param: [n]; step: [1], 0 to change
   nothing. */
static void average_weights_ref(real* average_out, const real* average, const real* param,
                                const int32_t* step, const average_weights_dims* d) {
  if (*step == 0) return;
  const real share = (real)(*step == 1 ? 1.0 : 1.0 - d->decay);
  for (int i = 0; i < d->n; ++i) {
    average_out[i] = *step == 1 ? param[i] : average[i] + share * (param[i] - average[i]);
  }
}
