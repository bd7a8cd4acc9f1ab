/* How a gradient becomes int8, a part at a time. Plain C99: also emitted for devices. */
#include "ops/error_int8/dims.h"

#ifndef ERROR_INT8_OWN_ROUNDING /* cortex_m_dsp.h has its own */
/* The largest of `most` and the sizes of n numbers; NaN where one is NaN. */
static real error_int8_most(real most, const real* x, int n) {
  for (int i = 0; i < n; ++i) {
    const real size = x[i] < 0 ? -x[i] : x[i];
    if (size > most || size != size) most = size; /* nothing is larger than NaN */
  }
  return most;
}

/* y[i] = x[i] / unit to the nearest integer, halves to even; 0 where the unit is below 2^-126 or no
   number. y, x: [n]. */
static void error_int8_round(int8_t* y, const real* x, real unit, int n) {
  for (int i = 0; i < n; ++i) {
    const real v = unit >= ERROR_LEAST_SCALE ? x[i] / unit : 0;
    y[i] = (int8_t)(v == v ? quantized_nearest((float)v) : 0);
  }
}
#endif
