#include "ops/error_int8/rounding.h"

/* scale = largest |x| / 127; y[i] = x[i] / scale to the nearest integer, halves to even. Where the
   scale is below 2^-126 or no number, y is 0. x, y: [n], scale: one number; no aliasing. */
static void error_to_int8_ref(int8_t* y, real* scale, const real* x, const error_int8_dims* d) {
  const real unit = error_int8_most(0, x, d->n) / 127;
  *scale = unit;
  error_int8_round(y, x, unit, d->n);
}

/* x[i] = y[i] * scale. y, x: [n], scale: one number; no aliasing. */
static void error_from_int8_ref(real* x, const int8_t* y, const real* scale,
                                const error_int8_dims* d) {
  const real unit = *scale;
  for (int i = 0; i < d->n; ++i) x[i] = (real)y[i] * unit;
}

/* sum[i] = y[i] * scale + dx[i]: the gradient that waited as int8 is never f32 as a whole.
   y, dx, sum: [n], scale: one number; sum may be dx. */
static void add_int8_error_ref(real* sum, const real* dx, const int8_t* y, const real* scale,
                               const error_int8_dims* d) {
  const real unit = *scale;
  for (int i = 0; i < d->n; ++i) sum[i] = (real)y[i] * unit + dx[i];
}
