/* Windows of int8 convolutions as halves, for the target cortex-m-dsp: of each four taps those of 0
   and 2 and then those of 1 and 3, as bytes are extended. */
#include "ops/families/quantized/words_cortex_m_dsp.h"

/* Most taps of windows whose bytes are copied before they are extended. */
#define QUANTIZED_DSP_BYTES 64

/* to[0..n) = from[0..n). */
static inline void quantized_dsp_copy(int8_t* to, const int8_t* from, int n) {
  for (; n >= 4; n -= 4, to += 4, from += 4) memcpy(to, from, 4);
  while (n-- > 0) *to++ = *from++;
}

/* Extends n bytes, a multiple of four, to cells, of which each block of four is `step` behind the
   one before. less: see quantized_dsp_fill. */
static inline int16_t* quantized_dsp_extend(int16_t* to, const int8_t* from, int n, uint32_t less,
                                            int step) {
  const int8_t* const end = from + n;
  while (from != end) {
    const uint32_t word = quantized_dsp_word(from);
    const uint32_t even = quantized_dsp_even(less, word);
    const uint32_t odd = quantized_dsp_odd(less, word);
    memcpy(to, &even, sizeof even);
    memcpy(to + 2, &odd, sizeof odd);
    from += 4;
    to += step;
  }
  return to;
}

static inline uint32_t quantized_dsp_less(int32_t zero) {
  return ((uint32_t)-zero & 0xffffU) | (uint32_t)-zero << 16;
}

/* The bytes of row r of the windows of `count` pixels from (p, q) on, `step` bytes apart, dilation
   1; those outside of the image are the zero point. */
static void quantized_dsp_window_rows(int8_t* to, const int8_t* x, int rows,
                                      const quantized_conv2d_dims* dims, int p, int q, int r,
                                      int count, int step) {
  const conv_dims* d = &dims->conv;
  const int n = d->s * d->c;
  const int row = p * d->stride_h - d->pad_top + r;
  const int is_inside = row >= 0 && row < d->h;
  const int8_t* const line = is_inside ? x + (ptrdiff_t)(row % rows) * d->w * d->c : NULL;
  for (int8_t* const end = to + count * step; to != end; to += step, ++q) {
    const int left = q * d->stride_w - d->pad_left;
    const int first = left < 0 ? (-left < d->s ? -left : d->s) : 0;
    const int inside = d->w - left;
    const int last = inside < first ? first : inside < d->s ? inside : d->s;
    if (!is_inside || first > 0 || last < d->s) memset(to, dims->input_zero_point, (size_t)n);
    if (!is_inside) continue;
    if (first > 0 || last < d->s || n != 9) {
      quantized_dsp_copy(to + first * d->c, line + (ptrdiff_t)(left + first) * d->c,
                         (last - first) * d->c);
      continue;
    }
    /* Three colours: up to the last whole window of the row. */
    const int8_t* from = line + left * d->c;
    const int more = (d->w - d->s - left) / d->stride_w;
    const int8_t* const tight = to + (more < (int)(end - to) / step ? more * step : 0);
    for (; to != tight; to += step, from += d->stride_w * 3, ++q) memcpy(to, from, 9);
    memcpy(to, from, 9);
  }
}

/* The window of pixel (p, q) in blocks of four taps: taps 0 and 2 and then 1 and 3, as bytes are
   extended. The last block is filled with 0. */
static void quantized_dsp_fill(int16_t* to, const int8_t* x, int rows,
                               const quantized_conv2d_dims* dims, int p, int q, int step) {
  const conv_dims* d = &dims->conv;
  const int zero = dims->input_zero_point;
  const uint32_t less = quantized_dsp_less(zero);
  const int channels = d->c;
  const int by_words = channels % 4 == 0;
  const int taps = d->r * d->s * channels;
  int t = 0;
  if (!by_words && d->dilation_h == 1 && d->dilation_w == 1 && taps <= QUANTIZED_DSP_BYTES) {
    int8_t bytes[QUANTIZED_DSP_BYTES];
    for (int r = 0; r < d->r; ++r) {
      quantized_dsp_window_rows(bytes + r * d->s * channels, x, rows, dims, p, q, r, 1, taps);
    }
    for (t = taps; t % 4 != 0; ++t) bytes[t] = (int8_t)zero;
    quantized_dsp_extend(to, bytes, t, less, step);
    return;
  }
  for (int r = 0; r < d->r; ++r) {
    const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
    for (int s = 0; s < d->s; ++s) {
      const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
      const int is_outside = row < 0 || row >= d->h || column < 0 || column >= d->w;
      const int8_t* from =
          is_outside ? NULL : x + ((ptrdiff_t)(row % rows) * d->w + column) * channels;
      if (by_words && !is_outside) {
        to = quantized_dsp_extend(to, from, channels, less, step);
        t += channels;
        continue;
      }
      for (int c = 0; c < channels; ++c, ++t) {
        const int16_t cell = (int16_t)(is_outside ? 0 : from[c] - zero);
        to[(t & 1) * 2 + (t >> 1 & 1)] = cell;
        if (t % 4 == 3) to += step;
      }
    }
  }
  for (; t % 4 != 0; ++t) to[(t & 1) * 2 + (t >> 1 & 1)] = 0;
}

/* Whether the pixels of a result are those of the image. */
static inline int quantized_dsp_is_pointwise(const conv_dims* d) {
  return d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 && d->pad_top == 0 &&
         d->pad_left == 0 && d->groups == 1 && d->p == d->h && d->q == d->w;
}

/* Extends n bytes, a multiple of four, to cells of one pixel after another. from may be the second
   half of the cells. */
static void quantized_dsp_extend_all(int16_t* to, const int8_t* from, int n, uint32_t less) {
#if defined(__ARM_FEATURE_DSP)
  const int8_t* const end = from + (n & ~15);
  if (from != end) {
    __asm__ volatile(
        "1:\n"
        "ldmia %[from]!, {r9, r10, r11, r12}\n"
        "sxtab16 r4, %[less], r9\n"
        "sxtab16 r5, %[less], r9, ror #8\n"
        "sxtab16 r6, %[less], r10\n"
        "sxtab16 r8, %[less], r10, ror #8\n"
        "stmia %[to]!, {r4, r5, r6, r8}\n"
        "sxtab16 r4, %[less], r11\n"
        "sxtab16 r5, %[less], r11, ror #8\n"
        "sxtab16 r6, %[less], r12\n"
        "sxtab16 r8, %[less], r12, ror #8\n"
        "stmia %[to]!, {r4, r5, r6, r8}\n"
        "cmp %[from], %[end]\n"
        "bne 1b\n"
        : [from] "+r"(from), [to] "+r"(to)
        : [end] "r"(end), [less] "r"(less)
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
  }
  n &= 15;
#endif
  quantized_dsp_extend(to, from, n, less, 4);
}

/* The windows of `count` pixels, one behind the other. */
static void quantized_dsp_cells(int16_t* cells, const int8_t* x, int rows,
                                const quantized_conv2d_dims* dims, int p, int q, int count) {
  const conv_dims* d = &dims->conv;
  const uint32_t less = quantized_dsp_less(dims->input_zero_point);
  const int taps = d->r * d->s * d->c;
  const int step = (taps + 3) & ~3;
  int8_t* const bytes = (int8_t*)cells + count * step;
  if (quantized_dsp_is_pointwise(d) && taps == step) {
    quantized_dsp_extend_all(cells, x + ((ptrdiff_t)(p % rows) * d->w + q) * taps, count * taps,
                             less);
    return;
  }
  if (d->dilation_h != 1 || d->dilation_w != 1) {
    for (int j = 0; j < count; ++j, cells += step) {
      quantized_dsp_fill(cells, x, rows, dims, p, q + j, 4);
    }
    return;
  }
  for (int r = 0; r < d->r; ++r) {
    quantized_dsp_window_rows(bytes + r * d->s * d->c, x, rows, dims, p, q, r, count, step);
  }
  for (int t = taps; t < step; ++t) {
    for (int j = 0; j < count; ++j) bytes[j * step + t] = (int8_t)dims->input_zero_point;
  }
  quantized_dsp_extend_all(cells, bytes, count * step, less);
}

/* The windows of four pixels, of which `count` are asked for: block i of pixel j is number
   PIXELS*i + j. */
static void quantized_micro_fill(int16_t* cells, const int8_t* x, int rows,
                                 const quantized_conv2d_dims* dims, int p, int q, int count) {
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    quantized_dsp_fill(cells + 4 * j, x, rows, dims, p, q + (j < count ? j : 0),
                       4 * QUANTIZED_MICRO_PIXELS);
  }
}
