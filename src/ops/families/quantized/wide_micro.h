/* Sums of products by numbers of which many are 0, for microcontrollers: a product of 0 and a whole
   number changes no sum that began with 0, so it is left out. Plain C99. */
#include "ops/families/quantized/sum_micro.h"

/* Sums that are taken together. */
#define QUANTIZED_MICRO_WIDE 16

/* Whether so many of n numbers are 0 that it pays to look at each of them. Every seventh counts. */
static int quantized_micro_is_sparse(const real* x, int n) {
  int zeros = 0;
  for (int i = 0; i < n; i += 7) zeros += x[i] == 0;
  return zeros > n / 42;
}

#ifndef QUANTIZED_DSP_WIDE /* wide_cortex_m_dsp.h has its own */
/* to[c] = from[c] + the sum over n numbers k of y[k] w[k,c], for 16 c; w: [n,16], n: a multiple of
   four. */
static void quantized_micro_wide(real* to, const real* from, const real* y, const real* w, int n) {
  real sums[QUANTIZED_MICRO_WIDE];
  for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) sums[c] = from[c];
  for (const real* const end = y + n; y != end; ++y, w += QUANTIZED_MICRO_WIDE) {
    if (*y == 0) continue;
    for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) {
      sums[c] = quantized_micro_plus(sums[c], *y, w[c]);
    }
  }
  for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) to[c] = sums[c];
}

/* to[16k + c] = from[step k + c] - zero, for k below n and 16 c; n: not 0. */
static void quantized_micro_wide_floats(real* to, const int8_t* from, int step, int zero, int n) {
  for (; n > 0; --n, from += step) {
    for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) *to++ = (real)(from[c] - zero);
  }
}
#endif
