/* Rows of int8 convolutions for microcontrollers. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_CONV_MICRO_H_
#define THIMBLE_OPS_COMMON_CONV_MICRO_H_

#include "ops/families/quantized/conv_micro_dims.h"

/* Where results go: y, the bit mask of those that lay within the bounds, or both. */
typedef struct quantized_micro_out {
  int8_t* y;
  uint8_t* bits;
  const quantized_result* result;
  int32_t shift; /* from the bits of a float that was rounded so to the result */
  int is_plain;  /* requantization of float, and the bounds of int8 */
} quantized_micro_out;

static quantized_micro_out quantized_micro_to(int8_t* y, uint8_t* bits,
                                              const quantized_result* result) {
  quantized_micro_out out = {y, bits, result, 0, 0};
  out.shift = result->zero_point - QUANTIZED_MICRO_ROUND_BITS;
  out.is_plain = !result->fixed_point && result->low == INT8_MIN && result->high == INT8_MAX;
  return out;
}

/* Whether sums of a channel, of TAPS at most, fit int32_t and can be rounded by
   QUANTIZED_MICRO_ROUND: they are below 2^24 + 640 * 255 * 128. */
static inline int quantized_micro_is_small(int32_t bias, float scale) {
  int32_t bits;
  memcpy(&bits, &scale, sizeof bits);
  return (uint32_t)bias + 0x1000000U < 0x2000000U && bits < 0x3de147ae; /* 0.11 */
}

/* A result before it is clamped; sum as is_small says. */
static inline int32_t quantized_micro_level(int32_t sum, float scale, int32_t shift) {
  const float rounded = (float)sum * scale + QUANTIZED_MICRO_ROUND;
  int32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits + shift;
}

#ifndef QUANTIZED_DSP /* conv_cortex_m_dsp.h has its own */
static inline int8_t quantized_micro_clamped(int32_t v) {
  v = v > INT8_MAX ? INT8_MAX : v;
  return (int8_t)(v < INT8_MIN ? INT8_MIN : v);
}
#endif

/* The results of four sums, `step` apart. */
static void quantized_micro_store(int8_t* y, ptrdiff_t step, const int32_t* sums, float scale,
                                  int32_t shift) {
  y[0] = quantized_micro_clamped(quantized_micro_level(sums[0], scale, shift));
  y += step;
  y[0] = quantized_micro_clamped(quantized_micro_level(sums[1], scale, shift));
  y += step;
  y[0] = quantized_micro_clamped(quantized_micro_level(sums[2], scale, shift));
  y += step;
  y[0] = quantized_micro_clamped(quantized_micro_level(sums[3], scale, shift));
}

/* The same as bits from number `at` on. */
static void quantized_micro_mark(uint8_t* bits, ptrdiff_t at, ptrdiff_t step, const int32_t* sums,
                                 float scale, int32_t shift) {
  for (int j = 0; j < 4; ++j, at += step) {
    const uint32_t v = (uint32_t)quantized_micro_level(sums[j], scale, shift);
    if (v + 128U < 256U) bits[at / 8] |= (uint8_t)(1 << (at % 8));
  }
}

/* Results of one channel from its sums without bias: the first `count` of them, from `at` on. */
static void quantized_micro_finish(const quantized_micro_out* o, ptrdiff_t at, ptrdiff_t step,
                                   const int32_t* sums, int count, int32_t bias,
                                   const quantized_factor* factor) {
  for (int j = 0; j < count; ++j, at += step) {
    const int32_t sum = quantized_saturate((int64_t)sums[j] + bias);
    const int64_t v = quantized_unbounded(sum, factor, o->result);
    if (o->y) o->y[at] = quantized_clamp(v, o->result);
    if (o->bits && quantized_inside(v, o->result)) {
      o->bits[at / 8] |= (uint8_t)(1 << (at % 8));
    }
  }
}

/* The same of four sums with a bias that is_small takes. */
static void quantized_micro_put(const quantized_micro_out* o, ptrdiff_t at, ptrdiff_t step,
                                const int32_t* sums, float scale) {
  if (o->y) quantized_micro_store(o->y + at, step, sums, scale, o->shift);
  if (o->bits) quantized_micro_mark(o->bits, at, step, sums, scale, o->shift);
}

/* The sum of one result. x: one image, row i of which is at i modulo `rows`. */
static int32_t quantized_micro_sum(const int8_t* x, int rows, const int8_t* w, int32_t bias,
                                   const quantized_conv2d_dims* dims, int p, int q, int k) {
  const conv_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int first_c = k / (d->k / d->groups) * group_c;
  int64_t sum = bias;
  for (int r = 0; r < d->r; ++r) {
    const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
    if (row < 0 || row >= d->h) continue;
    for (int s = 0; s < d->s; ++s) {
      const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
      if (column < 0 || column >= d->w) continue;
      const int8_t* pixel = x + ((ptrdiff_t)(row % rows) * d->w + column) * d->c + first_c;
      const int8_t* tap = w + (((ptrdiff_t)k * d->r + r) * d->s + s) * group_c;
      for (int c = 0; c < group_c; ++c) sum += (pixel[c] - dims->input_zero_point) * tap[c];
    }
  }
  return quantized_saturate(sum);
}

#ifndef QUANTIZED_DSP /* conv_cortex_m_dsp.h has its own */
/* to[PIXELS * c] = from[c] - zero, for c below n. */
static inline void quantized_micro_spread(int16_t* to, const int8_t* from, int zero, int n) {
  int c = 0;
  for (; c + 4 <= n; c += 4, from += 4, to += 4 * QUANTIZED_MICRO_PIXELS) {
    to[0] = (int16_t)(from[0] - zero);
    to[QUANTIZED_MICRO_PIXELS] = (int16_t)(from[1] - zero);
    to[2 * QUANTIZED_MICRO_PIXELS] = (int16_t)(from[2] - zero);
    to[3 * QUANTIZED_MICRO_PIXELS] = (int16_t)(from[3] - zero);
  }
  for (; c < n; ++c, ++from, to += QUANTIZED_MICRO_PIXELS) *to = (int16_t)(*from - zero);
}

/* The windows of `count` pixels from (p, q) on, less the zero point: cell t of pixel j is at
   PIXELS*t + j. Taps outside of the image are 0. */
static void quantized_micro_fill(int16_t* cells, const int8_t* x, int rows,
                                 const quantized_conv2d_dims* dims, int p, int q, int count) {
  const conv_dims* d = &dims->conv;
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    int16_t* to = cells + j;
    for (int r = 0; r < d->r; ++r) {
      const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
      for (int s = 0; s < d->s; ++s, to += QUANTIZED_MICRO_PIXELS * d->c) {
        const int column = (q + j) * d->stride_w - d->pad_left + s * d->dilation_w;
        if (j >= count || row < 0 || row >= d->h || column < 0 || column >= d->w) {
          for (int c = 0; c < d->c; ++c) to[QUANTIZED_MICRO_PIXELS * c] = 0;
        } else {
          quantized_micro_spread(to, x + ((ptrdiff_t)(row % rows) * d->w + column) * d->c,
                                 dims->input_zero_point, d->c);
        }
      }
    }
  }
}

/* sums[j] += of pixel j by the weights w0, sums[PIXELS + j] by w1, for two pixels. */
static void quantized_micro_two(int32_t* sums, const int16_t* cells, const int8_t* w0,
                                const int8_t* w1, int taps) {
  int32_t a0 = sums[0], a1 = sums[1];
  int32_t b0 = sums[QUANTIZED_MICRO_PIXELS], b1 = sums[QUANTIZED_MICRO_PIXELS + 1];
  const int8_t* end = w0 + (taps & ~3);
  while (w0 != end) {
    a0 += cells[0] * w0[0];
    b0 += cells[0] * w1[0];
    a1 += cells[1] * w0[0];
    b1 += cells[1] * w1[0];
    a0 += cells[4] * w0[1];
    b0 += cells[4] * w1[1];
    a1 += cells[5] * w0[1];
    b1 += cells[5] * w1[1];
    a0 += cells[8] * w0[2];
    b0 += cells[8] * w1[2];
    a1 += cells[9] * w0[2];
    b1 += cells[9] * w1[2];
    a0 += cells[12] * w0[3];
    b0 += cells[12] * w1[3];
    a1 += cells[13] * w0[3];
    b1 += cells[13] * w1[3];
    w0 += 4;
    w1 += 4;
    cells += 4 * QUANTIZED_MICRO_PIXELS;
  }
  for (end += taps % 4; w0 != end; ++w0, ++w1, cells += QUANTIZED_MICRO_PIXELS) {
    a0 += cells[0] * w0[0];
    b0 += cells[0] * w1[0];
    a1 += cells[1] * w0[0];
    b1 += cells[1] * w1[0];
  }
  sums[0] = a0;
  sums[1] = a1;
  sums[QUANTIZED_MICRO_PIXELS] = b0;
  sums[QUANTIZED_MICRO_PIXELS + 1] = b1;
}

/* The same for all pixels. */
static void quantized_micro_tile(int32_t* sums, const int16_t* cells, const int8_t* w0,
                                 const int8_t* w1, int taps) {
  quantized_micro_two(sums, cells, w0, w1, taps);
  quantized_micro_two(sums + 2, cells + 2, w0, w1, taps);
}
/* All channels of `count` pixels, from number `at` on. */
static void quantized_micro_channels(const quantized_micro_out* to, ptrdiff_t at,
                                     const int16_t* cells, const int8_t* w, const int32_t* bias,
                                     const quantized_factor* factors, int channels, int taps,
                                     int count) {
  for (int k = 0; k < channels; k += 2, w += 2 * taps) {
    const int last = k + 1 < channels ? 1 : 0; /* of the two channels */
    const int32_t bias0 = bias ? bias[k] : 0;
    const int32_t bias1 = bias ? bias[k + last] : 0;
    const float scale0 = factors[k].scale;
    const float scale1 = factors[k + last].scale;
    const int8_t* const w1 = w + last * taps;
    if (to->is_plain && count == QUANTIZED_MICRO_PIXELS &&
        quantized_micro_is_small(bias0, scale0) && quantized_micro_is_small(bias1, scale1)) {
      int32_t sums[2 * QUANTIZED_MICRO_PIXELS] = {bias0, bias0, bias0, bias0,
                                                  bias1, bias1, bias1, bias1};
      quantized_micro_tile(sums, cells, w, w1, taps);
      quantized_micro_put(to, at + k, channels, sums, scale0);
      if (last > 0) {
        quantized_micro_put(to, at + k + 1, channels, sums + QUANTIZED_MICRO_PIXELS, scale1);
      }
    } else {
      int32_t sums[2 * QUANTIZED_MICRO_PIXELS] = {0};
      quantized_micro_tile(sums, cells, w, w1, taps);
      quantized_micro_finish(to, at + k, channels, sums, count, bias0, &factors[k]);
      if (last > 0) {
        quantized_micro_finish(to, at + k + 1, channels, sums + QUANTIZED_MICRO_PIXELS, count,
                               bias1, &factors[k + 1]);
      }
    }
  }
}
#else
static void quantized_micro_channels(const quantized_micro_out* to, ptrdiff_t at,
                                     const int16_t* cells, const int8_t* w, const int32_t* bias,
                                     const quantized_factor* factors, int channels, int taps,
                                     int count);
#endif

#ifndef QUANTIZED_DSP /* conv_cortex_m_dsp.h has its own */
/* One row of results where all channels are read, from number `at` on. */
static void quantized_micro_dense_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                      int rows, const int8_t* w, const int32_t* bias,
                                      const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p) {
  const int channels = dims->conv.k;
  const int width = dims->conv.q;
  const int taps = dims->conv.r * dims->conv.s * dims->conv.c;
  union {
    int16_t cells[QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS];
    int32_t aligned;
  } windows;
  for (int q = 0; q < width; q += QUANTIZED_MICRO_PIXELS, at += QUANTIZED_MICRO_PIXELS * channels) {
    const int count = width - q < QUANTIZED_MICRO_PIXELS ? width - q : QUANTIZED_MICRO_PIXELS;
    quantized_micro_fill(windows.cells, x, rows, dims, p, q, count);
    quantized_micro_channels(out, at, windows.cells, w, bias, factors, channels, taps, count);
  }
}
#else
static void quantized_micro_dense_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                      int rows, const int8_t* w, const int32_t* bias,
                                      const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p);
#endif

/* Four windows of a depthwise convolution. */
typedef struct quantized_micro_taps {
  int lines;        /* rows of the window that lie within the image */
  int taps;         /* of a line */
  ptrdiff_t step;   /* from a tap to the next */
  ptrdiff_t stride; /* from a window to the next */
} quantized_micro_taps;

/* sums[j] += of all weights and pixels from lines[i] + offset + j * stride on. */
static void quantized_micro_windows(int32_t* sums, const int8_t* const* lines, ptrdiff_t offset,
                                    const int8_t* w, const quantized_micro_taps* t) {
  const ptrdiff_t step = t->step;
  const int taps = t->taps;
  const int8_t* const* const last = lines + t->lines;
  int32_t a0 = sums[0], a1 = sums[1], a2 = sums[2], a3 = sums[3];
  if (t->stride == step && taps == 3) {
    for (; lines != last; ++lines, w += 3) {
      const int8_t* x = *lines + offset;
      const int32_t w0 = w[0], w1 = w[1], w2 = w[2];
      int32_t pixel = *x;
      a0 += pixel * w0;
      pixel = *(x += step);
      a0 += pixel * w1;
      a1 += pixel * w0;
      pixel = *(x += step);
      a0 += pixel * w2;
      a1 += pixel * w1;
      a2 += pixel * w0;
      pixel = *(x += step);
      a1 += pixel * w2;
      a2 += pixel * w1;
      a3 += pixel * w0;
      pixel = *(x += step);
      a2 += pixel * w2;
      a3 += pixel * w1;
      pixel = *(x += step);
      a3 += pixel * w2;
    }
  } else {
    const ptrdiff_t stride = t->stride;
    for (; lines != last; ++lines) {
      const int8_t* x = *lines + offset;
      const int8_t* const end = w + taps;
      for (; w != end; x += step) {
        const int32_t tap = *w++;
        a0 += x[0] * tap;
        a1 += x[stride] * tap;
        a2 += x[2 * stride] * tap;
        a3 += x[3 * stride] * tap;
      }
    }
  }
  sums[0] = a0;
  sums[1] = a1;
  sums[2] = a2;
  sums[3] = a3;
}

/* The sum of n weights. */
static int32_t quantized_micro_weights(const int8_t* w, int n) {
  const int8_t* const end = w + n;
  int32_t sum = 0;
  while (w != end) sum += *w++;
  return sum;
}

/* Lines of the image under a window, as its rows lie in memory. */
#define QUANTIZED_MICRO_LINES 16
typedef struct quantized_micro_window {
  const int8_t* lines[QUANTIZED_MICRO_LINES];
  int count;
  int first; /* row of the window that is on the first of them */
} quantized_micro_window;

/* Most columns under four windows of a depthwise convolution. */
#define QUANTIZED_MICRO_COLUMNS 32

static inline int quantized_micro_columns_of(const conv_dims* d) {
  return (QUANTIZED_MICRO_PIXELS - 1) * d->stride_w + (d->s - 1) * d->dilation_w + 1;
}

/* The columns under four windows that reach beyond the image. */
typedef struct quantized_micro_edge {
  int8_t cells[QUANTIZED_MICRO_LINES * QUANTIZED_MICRO_COLUMNS];
  const int8_t* lines[QUANTIZED_MICRO_LINES]; /* in cells */
  int begin;                                  /* columns [begin, end) are of the image, */
  int end;
  int first; /* the first of which is this one */
} quantized_micro_edge;

/* Of columns [left, left + n): those outside of the image become the zero point. */
static void quantized_micro_edge_at(quantized_micro_edge* edge, const quantized_conv2d_dims* dims,
                                    int lines, int left, int n) {
  const int inside = dims->conv.w - left;
  edge->begin = left < 0 ? (-left < n ? -left : n) : 0;
  edge->end = inside < edge->begin ? edge->begin : inside < n ? inside : n;
  edge->first = left + edge->begin;
  for (int i = 0; i < lines; ++i) edge->lines[i] = edge->cells + i * n;
  memset(edge->cells, dims->input_zero_point, (size_t)(lines * n));
}

/* The columns of the image, of channel k. */
static void quantized_micro_edge_of(quantized_micro_edge* edge,
                                    const quantized_micro_window* window, int channels, int n,
                                    int k) {
  const ptrdiff_t offset = (ptrdiff_t)edge->first * channels + k;
  int8_t* line = edge->cells + edge->begin;
  const int count = edge->end - edge->begin;
  for (int i = 0; i < window->count; ++i, line += n) {
    const int8_t* x = window->lines[i] + offset;
    int8_t* to = line;
    int8_t* const end = line + count;
    for (; to != end; x += channels) *to++ = *x;
  }
}

/* One row of results where each channel reads itself. */
static void quantized_micro_depthwise_row(const quantized_micro_out* out, ptrdiff_t at,
                                          const quantized_micro_window* window, const int8_t* w,
                                          const int32_t* bias, const quantized_conv2d_dims* dims,
                                          const quantized_factor* factors) {
  const conv_dims* d = &dims->conv;
  const quantized_micro_out to = *out;
  const int channels = d->k;
  const int width = d->q;
  const int columns = quantized_micro_columns_of(d);
  const quantized_micro_taps image = {window->count, d->s, (ptrdiff_t)d->dilation_w * channels,
                                      (ptrdiff_t)d->stride_w * channels};
  const quantized_micro_taps cells = {window->count, d->s, d->dilation_w, d->stride_w};
  const int last = width > QUANTIZED_MICRO_PIXELS ? width - QUANTIZED_MICRO_PIXELS : 0;
  quantized_micro_edge edge;
  w += window->first * d->s;
  /* Pixels outside, channels inside: what lies outside of the image is the same for all. */
  for (int q = 0;; q = q + QUANTIZED_MICRO_PIXELS < last ? q + QUANTIZED_MICRO_PIXELS : last) {
    const int left = q * d->stride_w - d->pad_left;
    const int is_inside = left >= 0 && left + columns <= d->w;
    const int count = width - q < QUANTIZED_MICRO_PIXELS ? width - q : QUANTIZED_MICRO_PIXELS;
    const int8_t* taps = w;
    if (!is_inside) quantized_micro_edge_at(&edge, dims, window->count, left, columns);
    for (int k = 0; k < channels; ++k, taps += d->r * d->s) {
      const int32_t start = bias ? bias[k] : 0;
      const float scale = factors[k].scale;
      const int is_small =
          to.is_plain && count == QUANTIZED_MICRO_PIXELS && quantized_micro_is_small(start, scale);
      const int32_t from =
          (is_small ? start : 0) -
          quantized_micro_weights(taps, window->count * d->s) * dims->input_zero_point;
      const ptrdiff_t i = at + (ptrdiff_t)q * channels + k;
      int32_t sums[QUANTIZED_MICRO_PIXELS] = {from, from, from, from};
      if (is_inside) {
        quantized_micro_windows(sums, window->lines, (ptrdiff_t)left * channels + k, taps, &image);
      } else {
        quantized_micro_edge_of(&edge, window, channels, columns, k);
        quantized_micro_windows(sums, edge.lines, 0, taps, &cells);
      }
      if (is_small) {
        quantized_micro_put(&to, i, channels, sums, scale);
      } else {
        quantized_micro_finish(&to, i, channels, sums, count, start, &factors[k]);
      }
    }
    if (q >= last) break;
  }
}

/* Row p of the results of one image, from number `at` on. x: row i of the image is at i modulo
   `rows`. */
static void quantized_micro_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                int rows, const int8_t* w, const int32_t* bias,
                                const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                int p) {
  const conv_dims* d = &dims->conv;
  if (d->groups == 1 && d->r * d->s * d->c <= QUANTIZED_MICRO_TAPS) {
    quantized_micro_dense_row(out, at, x, rows, w, bias, dims, factors, p);
  } else if (d->groups == d->c && d->k == d->c && d->r <= QUANTIZED_MICRO_LINES &&
             quantized_micro_columns_of(d) <= QUANTIZED_MICRO_COLUMNS) {
    quantized_micro_window window = {{NULL}, 0, 0};
    for (int r = 0; r < d->r; ++r) {
      const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
      if (row < 0 || row >= d->h) continue;
      if (window.count == 0) window.first = r;
      window.lines[window.count++] = x + (ptrdiff_t)(row % rows) * d->w * d->c;
    }
    quantized_micro_depthwise_row(out, at, &window, w, bias, dims, factors);
  } else {
    for (int q = 0; q < d->q; ++q) {
      for (int k = 0; k < d->k; ++k, ++at) {
        const int32_t sum = quantized_micro_sum(x, rows, w, bias ? bias[k] : 0, dims, p, q, k);
        quantized_micro_finish(out, at, 1, &sum, 1, 0, &factors[k]);
      }
    }
  }
}

#ifndef QUANTIZED_DSP /* conv_cortex_m_dsp.h has its own */
/* Rows [p, last) of the results of one image, from number `at` on. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  for (; p < last; ++p, at += (ptrdiff_t)dims->conv.q * dims->conv.k) {
    quantized_micro_row(out, at, x, rows, w, bias, dims, factors, p);
  }
}
#endif

#endif
