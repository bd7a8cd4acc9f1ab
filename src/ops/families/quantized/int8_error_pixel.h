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
  real most; /* the largest size of a factor */
} int8_error_source;

/* most: 0 where the factors are not read as int16. */
static real int8_error_most_factor(const real* factors, int n) {
  real most = 0;
  for (int i = 0; i < n; ++i) {
    const real size = factors[i] < 0 ? -factors[i] : factors[i];
    if (size > most) most = size;
  }
  return most;
}

/* The source of a layer's sums. channels: those that one sum reads, or 0 where it reads but one. */
static int8_error_source int8_error_from(const int8_t* e, const real* scale, const real* factors,
                                         const uint8_t* bits, int factor_step, int channels) {
  const int n = factor_step == 0 && channels > 0 ? 1 : channels;
  const int8_error_source from = {e,      factors,     bits,
                                  *scale, factor_step, int8_error_most_factor(factors, n)};
  return from;
}

/* Factors as int16, those of n channels: the largest of all is INT8_ERROR_MULTIPLIER. */
static void int8_error_multipliers(int16_t* to, const real* factors, int step, real most, int n) {
  /* Smaller numbers have no reciprocal. */
  const real scale = most > (real)1e-30F ? INT8_ERROR_MULTIPLIER / most : 0;
  for (int i = 0; i < n; ++i) {
    const real v = factors[(ptrdiff_t)i * step] * scale;
    const int fits = v > -INT16_MAX && v < INT16_MAX; /* not where the factor is no number */
    to[i] = (int16_t)(fits ? (int32_t)(v < 0 ? v - (real)0.5F : v + (real)0.5F) : 0);
  }
}

/* The unit of sums of weights times errors with such factors. */
static real int8_error_folded_unit(real unit, real most) {
  return unit * (most * (1 << INT8_ERROR_SHIFT) / INT8_ERROR_MULTIPLIER);
}

/* Errors i from `at` on, n of them, 0 where their bit is not set. */
static void int8_error_masked(int32_t* to, const int8_t* e, const uint8_t* bits, ptrdiff_t at,
                              int n) {
  for (int i = 0; i < n; ++i) to[i] = e[at + i];
  if (bits == 0) return;
  for (int i = 0; i < n; ++i) {
    if ((bits[(at + i) / 8] >> ((at + i) % 8) & 1) == 0) to[i] = 0;
  }
}

/* The same times the factors of channels c and on, as int16, halves up. */
static void int8_error_folded(int32_t* to, const int8_error_source* from, ptrdiff_t at, int c,
                              int n) {
  int16_t multipliers[INT8_ERROR_CHUNK];
  int8_error_multipliers(multipliers, from->factors + (ptrdiff_t)c * from->factor_step,
                         from->factor_step, from->most, n);
  int8_error_masked(to, from->e, from->bits, at, n);
  for (int i = 0; i < n; ++i) {
    to[i] = (to[i] * multipliers[i] + (1 << (INT8_ERROR_SHIFT - 1))) >> INT8_ERROR_SHIFT;
  }
}

/* dx[n,h,column,c] and the `count` channels from there on, which lie in one group, from exact
   sums of integers. A depthwise convolution takes several groups at once, and multiplies by their
   factors at the end. */
static void int8_error_pixel(real* to, const int8_error_source* from, const int8_t* w,
                             const conv_dims* d, int n, int h, int column, int c, int count) {
  int32_t errors[INT8_ERROR_CHUNK];
  int32_t part[INT8_ERROR_CHUNK];
  int64_t sums[INT8_ERROR_CHUNK];
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int is_depthwise = group_c == 1 && group_k == 1;
  const int first_k = c / group_c * group_k;
  for (int i = 0; i < count; ++i) sums[i] = 0;
  for (int r = 0; r < d->r; ++r) {
    const int from_h = h + d->pad_top - r * d->dilation_h;
    if (from_h < 0 || from_h % d->stride_h != 0 || from_h / d->stride_h >= d->p) continue;
    for (int s = 0; s < d->s; ++s) {
      const int from_w = column + d->pad_left - s * d->dilation_w;
      if (from_w < 0 || from_w % d->stride_w != 0 || from_w / d->stride_w >= d->q) continue;
      const ptrdiff_t row = (ptrdiff_t)n * d->p + from_h / d->stride_h;
      const ptrdiff_t at = (row * d->q + from_w / d->stride_w) * d->k + first_k;
      if (is_depthwise) {
        const int8_t* const taps = w + ((ptrdiff_t)c * d->r + r) * d->s + s;
        int8_error_masked(errors, from->e, from->bits, at, count);
        for (int i = 0; i < count; ++i) sums[i] += errors[i] * taps[(ptrdiff_t)i * d->r * d->s];
        continue;
      }
      for (int k = 0; k < group_k; k += INT8_ERROR_CHUNK) {
        const int rest = group_k - k;
        const int here = rest < INT8_ERROR_CHUNK ? rest : INT8_ERROR_CHUNK;
        int8_error_folded(errors, from, at + k, first_k + k, here);
        for (int i = 0; i < count; ++i) part[i] = 0;
        for (int j = 0; j < here; ++j) {
          const ptrdiff_t tap = ((ptrdiff_t)(first_k + k + j) * d->r + r) * d->s + s;
          const int8_t* const taps = w + tap * group_c + c % group_c;
          if (errors[j] == 0) continue;
          for (int i = 0; i < count; ++i) part[i] += errors[j] * taps[i];
        }
        for (int i = 0; i < count; ++i) sums[i] += part[i];
      }
    }
  }
  if (is_depthwise) {
    const real* const factors = from->factors + (ptrdiff_t)c * from->factor_step;
    for (int i = 0; i < count; ++i) {
      to[i] = (real)sums[i] * (from->unit * factors[(ptrdiff_t)i * from->factor_step]);
    }
  } else {
    const real unit = int8_error_folded_unit(from->unit, from->most);
    for (int i = 0; i < count; ++i) to[i] = (real)sums[i] * unit;
  }
}
