/* A pixel of the gradient in the input, from an error of int8: of the reference, of the host's
   kernels and of those for microcontrollers. Plain C99. */
#include "ops/int8_error_grad/dims.h"

/* Where the gradients of a layer's sums are read from: that of sum i of channel c is
   e[i] unit factors[c], and 0 where there are bits and bit i is not set. */
typedef struct int8_error_source {
  const int8_t* e;
  const real* factors;
  const uint8_t* bits; /* or null */
  real unit;
  int factor_step;
} int8_error_source;

/* Those of n sums from `at` on, of channels c and on. */
static void int8_error_sums(real* to, const int8_error_source* from, ptrdiff_t at, int c, int n) {
  const real* const factors = from->factors + (ptrdiff_t)c * from->factor_step;
  for (int i = 0; i < n; ++i) to[i] = (real)from->e[at + i] * from->unit;
  if (from->bits != 0) {
    for (int i = 0; i < n; ++i) {
      if ((from->bits[(at + i) / 8] >> ((at + i) % 8) & 1) == 0) to[i] = 0;
    }
  }
  if (from->factor_step != 0) {
    for (int i = 0; i < n; ++i) to[i] *= factors[i];
  } else {
    for (int i = 0; i < n; ++i) to[i] *= factors[0];
  }
}

/* dx[n,h,column,c] and the `count` channels from there on, which lie in one group: as
   quantized_conv2d_input_grad sums them. A depthwise convolution takes several groups at once. */
static void int8_error_pixel(real* to, const int8_error_source* from, const int8_t* w,
                             const conv_dims* d, int n, int h, int column, int c, int count) {
  real sums[INT8_ERROR_CHUNK];
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int first_k = c / group_c * group_k;
  for (int i = 0; i < count; ++i) to[i] = 0;
  for (int r = 0; r < d->r; ++r) {
    const int from_h = h + d->pad_top - r * d->dilation_h;
    if (from_h < 0 || from_h % d->stride_h != 0 || from_h / d->stride_h >= d->p) continue;
    for (int s = 0; s < d->s; ++s) {
      const int from_w = column + d->pad_left - s * d->dilation_w;
      if (from_w < 0 || from_w % d->stride_w != 0 || from_w / d->stride_w >= d->q) continue;
      const ptrdiff_t row = (ptrdiff_t)n * d->p + from_h / d->stride_h;
      const ptrdiff_t at = (row * d->q + from_w / d->stride_w) * d->k + first_k;
      if (group_c == 1 && group_k == 1) {
        const int8_t* const taps = w + ((ptrdiff_t)c * d->r + r) * d->s + s;
        int8_error_sums(sums, from, at, c, count);
        for (int i = 0; i < count; ++i) to[i] += sums[i] * (real)taps[(ptrdiff_t)i * d->r * d->s];
        continue;
      }
      for (int k = 0; k < group_k; k += INT8_ERROR_CHUNK) {
        const int rest = group_k - k;
        const int here = rest < INT8_ERROR_CHUNK ? rest : INT8_ERROR_CHUNK;
        int8_error_sums(sums, from, at + k, first_k + k, here);
        for (int j = 0; j < here; ++j) {
          const real sum = sums[j];
          const ptrdiff_t tap = ((ptrdiff_t)(first_k + k + j) * d->r + r) * d->s + s;
          const int8_t* const taps = w + tap * group_c + c % group_c;
          if (sum == 0) continue; /* adds nothing */
          for (int i = 0; i < count; ++i) to[i] += sum * (real)taps[i];
        }
      }
    }
  }
}
