#include "ops/families/unary/unary_dims.h"
#include "ops/learned_scale/dims.h"

/* y = unit * max(ratio, 2^-10); NaN stays. y, ratio, unit: [n]; y may be ratio or unit. */
static void learned_scale_ref(real* y, const real* ratio, const real* unit, const unary_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    y[i] = unit[i] * (ratio[i] < LEARNED_SCALE_LEAST ? LEARNED_SCALE_LEAST : ratio[i]);
  }
}
