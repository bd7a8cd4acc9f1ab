#include "ops/error_int8/dims.h"

/* scale = largest |x| / 127; y[i] = x[i] / scale to the nearest integer, halves to even. Where the
   scale is below 2^-126 or no number, y is 0. x, y: [n], scale: one number; no aliasing. */
static void error_to_int8_ref(int8_t* y, real* scale, const real* x, const error_int8_dims* d) {
  real most = 0;
  for (int i = 0; i < d->n; ++i) {
    const real size = x[i] < 0 ? -x[i] : x[i];
    if (size > most || size != size) most = size; /* nothing is larger than NaN */
  }
  const real unit = most / 127;
  *scale = unit;
  for (int i = 0; i < d->n; ++i) {
    const real v = unit >= ERROR_LEAST_SCALE ? x[i] / unit : 0;
    y[i] = (int8_t)(v == v ? quantized_nearest((float)v) : 0);
  }
}

/* sum[i] = y[i] * scale + dx[i]: the gradient that waited as int8 is never f32 as a whole.
   y, dx, sum: [n], scale: one number; sum may be dx. */
static void add_int8_error_ref(real* sum, const real* dx, const int8_t* y, const real* scale,
                               const error_int8_dims* d) {
  const real unit = *scale;
  for (int i = 0; i < d->n; ++i) sum[i] = (real)y[i] * unit + dx[i];
}
