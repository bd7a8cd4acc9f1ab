/* Rows of int8 convolutions for the target cortex-m-dsp, depthwise ones by pairs of taps. Results
   are those of conv_micro.h. */
#include "ops/families/quantized/conv_cortex_m_dsp.h"

/* Depthwise convolutions: cells of four channels under some rows of results, and the weights of a
   channel. */
#define QUANTIZED_DSP_CELLS 600
#define QUANTIZED_DSP_PAIRS 64
typedef struct quantized_dsp_planes {
  union {
    int16_t cells[4 * QUANTIZED_DSP_CELLS]; /* less the zero point, 0 outside of the image */
    uint32_t aligned;
  } of;
  uint32_t pairs[QUANTIZED_DSP_PAIRS]; /* see quantized_dsp_pairs */
  int pitch;                           /* cells of a row */
} quantized_dsp_planes;

static inline uint32_t quantized_dsp_pair(int32_t low, int32_t high) {
  return ((uint32_t)low & 0xffffU) | (uint32_t)high << 16;
}

/* Of each row of s weights the pairs (0, 1), (2, 3) ... and (none, 0), (1, 2) ... in turns. */
static void quantized_dsp_pairs(uint32_t* to, const int8_t* w, int rows, int s) {
  for (int r = 0; r < rows; ++r) {
    const int8_t* const end = w + (s & ~1);
    int32_t before = 0;
    for (; w != end; w += 2, to += 2) {
      const int32_t low = w[0];
      to[0] = quantized_dsp_pair(low, w[1]);
      to[1] = quantized_dsp_pair(before, low);
      before = w[1];
    }
    const int32_t low = s % 2 != 0 ? *w++ : 0;
    to[0] = quantized_dsp_pair(low, 0);
    to[1] = quantized_dsp_pair(before, low);
    to += 2;
  }
}

/* sums = of four windows, `stride` apart: pair number i of a row by the pairs of weights. */
#define QUANTIZED_DSP_STEP(i, first, second)              \
  second = quantized_dsp_word(x + 2 * (i) + 2);           \
  a0 = quantized_dsp_products(first, w[2 * (i)], a0);     \
  a1 = quantized_dsp_products(first, w[2 * (i) + 1], a1); \
  a2 = quantized_dsp_products(second, w[2 * (i)], a2);    \
  a3 = quantized_dsp_products(second, w[2 * (i) + 1], a3);
static inline void quantized_dsp_windows(int32_t* sums, const int16_t* x, const uint32_t* w,
                                         int rows, int pairs, int pitch, int stride) {
  int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  uint32_t even, odd;
  if (stride == 1 && pairs == 2) {
    for (; rows > 0; --rows, x += pitch, w += 4) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
    }
  } else if (stride == 1 && pairs == 3) {
    for (; rows > 0; --rows, x += pitch, w += 6) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
      QUANTIZED_DSP_STEP(2, even, odd)
    }
  } else if (stride == 1 && pairs == 4) {
    for (; rows > 0; --rows, x += pitch, w += 8) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
      QUANTIZED_DSP_STEP(2, even, odd)
      QUANTIZED_DSP_STEP(3, odd, even)
    }
  } else if (stride == 1) {
    for (; rows > 0; --rows, x += pitch, w += 2 * pairs) {
      even = quantized_dsp_word(x);
      for (int i = 0; i < pairs; ++i, even = odd) {
        const uint32_t* const all = w;
        w += 2 * i;
        x += 2 * i;
        QUANTIZED_DSP_STEP(0, even, odd)
        x -= 2 * i;
        w = all;
      }
    }
  } else {
    for (; rows > 0; --rows, x += pitch) {
      const uint32_t* const end = w + 2 * pairs;
      const int16_t* from = x;
      uint32_t x0 = quantized_dsp_word(x), x1 = quantized_dsp_word(x + 2);
      uint32_t x2 = quantized_dsp_word(x + 4);
      for (; w != end; w += 2, from += 2) {
        const uint32_t x3 = quantized_dsp_word(from + 6);
        a0 = quantized_dsp_products(x0, *w, a0);
        a1 = quantized_dsp_products(x1, *w, a1);
        a2 = quantized_dsp_products(x2, *w, a2);
        a3 = quantized_dsp_products(x3, *w, a3);
        x0 = x1;
        x1 = x2;
        x2 = x3;
      }
    }
  }
  sums[0] = a0;
  sums[1] = a1;
  sums[2] = a2;
  sums[3] = a3;
}

/* Rows of results of one channel of a depthwise convolution. */
typedef struct quantized_dsp_channel {
  const int16_t* cells; /* under the first row */
  const uint32_t* w;    /* see quantized_dsp_pairs */
  int32_t bias;
  float scale;
  int rows;      /* of results */
  int width;     /* results of a row, a multiple of four */
  int step;      /* from a result to the next: channels */
  int lines;     /* of a window */
  int pairs;     /* of a line */
  int pitch;     /* cells of a row */
  int row_cells; /* from the windows of a row to those of the next */
  int stride;    /* from a window to the next */
} quantized_dsp_channel;

/* The results of a row, four windows at a time. */
typedef struct quantized_dsp_row {
  const uint32_t* w;  /* see quantized_dsp_pairs */
  int32_t lines;      /* of a window */
  int32_t back;       /* bytes from behind the last line of four windows to the next four */
  const int16_t* end; /* where those behind the last four would begin */
  int32_t bias, zero;
  int8_t* y;
  int32_t step; /* from a result to the next */
  float scale;
  int32_t pitch; /* bytes of a line */
} quantized_dsp_row;

/* Of a pair of taps, for windows one or two cells apart. */
#define QUANTIZED_DSP_ONE(next, a, b) \
  "ldrd r4, r5, [%[w]], #8\n"         \
  "ldr " b ", [%[x], #" next          \
  "]\n"                               \
  "smlad %[s0], " a                   \
  ", r4, %[s0]\n"                     \
  "smlad %[s1], " a                   \
  ", r5, %[s1]\n"                     \
  "smlad %[s2], " b                   \
  ", r4, %[s2]\n"                     \
  "smlad %[s3], " b ", r5, %[s3]\n"
#define QUANTIZED_DSP_APART(next, a, b, c, d) \
  "ldr r4, [%[w]], #8\n"                      \
  "ldr " d ", [%[x], #" next                  \
  "]\n"                                       \
  "smlad %[s0], " a                           \
  ", r4, %[s0]\n"                             \
  "smlad %[s1], " b                           \
  ", r4, %[s1]\n"                             \
  "smlad %[s2], " c                           \
  ", r4, %[s2]\n"                             \
  "smlad %[s3], " d ", r4, %[s3]\n"
#define QUANTIZED_DSP_ONE_2 \
  "ldr %[e], [%[x]]\n" QUANTIZED_DSP_ONE("4", "%[e]", "%[o]") QUANTIZED_DSP_ONE("8", "%[o]", "%[e]")
#define QUANTIZED_DSP_ONE_3 QUANTIZED_DSP_ONE_2 QUANTIZED_DSP_ONE("12", "%[e]", "%[o]")
#define QUANTIZED_DSP_ONE_4 QUANTIZED_DSP_ONE_3 QUANTIZED_DSP_ONE("16", "%[o]", "%[e]")
#define QUANTIZED_DSP_APART_2                                                      \
  "ldrd %[e], %[o], [%[x]]\n"                                                      \
  "ldr %[t], [%[x], #8]\n" QUANTIZED_DSP_APART("12", "%[e]", "%[o]", "%[t]", "r5") \
      QUANTIZED_DSP_APART("16", "%[o]", "%[t]", "r5", "%[e]")
#define QUANTIZED_DSP_APART_3 \
  QUANTIZED_DSP_APART_2 QUANTIZED_DSP_APART("20", "%[t]", "r5", "%[e]", "%[o]")
#define QUANTIZED_DSP_APART_4 \
  QUANTIZED_DSP_APART_3 QUANTIZED_DSP_APART("24", "r5", "%[e]", "%[o]", "%[t]")
#define QUANTIZED_DSP_ROW(line)                                                            \
  __asm__ volatile(                                                                        \
      "add r4, %[c], #16\n"                                                                \
      "vldmia r4, {s16-s20}\n"                                                             \
      "2:\n"                                                                               \
      "ldrd %[w], %[n], [%[c]]\n"                                                          \
      "mov %[s0], #0\n"                                                                    \
      "mov %[s1], #0\n"                                                                    \
      "mov %[s2], #0\n"                                                                    \
      "mov %[s3], #0\n"                                                                    \
      "1:\n" line                                                                          \
      "ldr r4, [%[c], #36]\n"                                                              \
      "add %[x], %[x], r4\n"                                                               \
      "subs %[n], %[n], #1\n"                                                              \
      "bne 1b\n"                                                                           \
      "ldr r4, [%[c], #8]\n"                                                               \
      "sub %[x], %[x], r4\n" QUANTIZED_DSP_RESULTS                                         \
      "ldr r4, [%[c], #12]\n"                                                              \
      "cmp %[x], r4\n"                                                                     \
      "bne 2b\n"                                                                           \
      : [x] "+r"(x), [w] "=&r"(w), [n] "=&r"(n), [e] "=&r"(e), [o] "=&r"(o), [t] "=&r"(t), \
        [s0] "=&r"(s0), [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)                     \
      : [c] "r"(c)                                                                         \
      : "r4", "r5", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "cc", "memory")

/* Computes them, for windows of 2 to 4 pairs, one or two cells apart. x: the first window. */
static QUANTIZED_DSP_ALONE void quantized_dsp_one_row(const quantized_dsp_row* c, const int16_t* x,
                                                      int pairs, int stride) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  const uint32_t* w;
  int32_t n, s0, s1, s2, s3;
  uint32_t e, o, t;
  if (stride == 1 && pairs == 2) QUANTIZED_DSP_ROW(QUANTIZED_DSP_ONE_2);
  if (stride == 1 && pairs == 3) QUANTIZED_DSP_ROW(QUANTIZED_DSP_ONE_3);
  if (stride == 1 && pairs == 4) QUANTIZED_DSP_ROW(QUANTIZED_DSP_ONE_4);
  if (stride == 2 && pairs == 2) QUANTIZED_DSP_ROW(QUANTIZED_DSP_APART_2);
  if (stride == 2 && pairs == 3) QUANTIZED_DSP_ROW(QUANTIZED_DSP_APART_3);
  if (stride == 2 && pairs == 4) QUANTIZED_DSP_ROW(QUANTIZED_DSP_APART_4);
#else
  for (int8_t* y = c->y; x != c->end; x += QUANTIZED_MICRO_PIXELS * stride) {
    int32_t v[QUANTIZED_MICRO_PIXELS];
    quantized_dsp_windows(v, x, c->w, c->lines, pairs, c->pitch / (int)sizeof *x, stride);
    quantized_dsp_levels(v, c->bias, c->scale, c->zero);
    for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j, y += c->step) {
      *y = (int8_t)quantized_dsp_byte(v[j]);
    }
  }
#endif
}

/* Computes them, from number `at` on; to->is_plain. */
static QUANTIZED_DSP_ALONE void quantized_dsp_depthwise(const quantized_micro_out* to, ptrdiff_t at,
                                                        const quantized_dsp_channel* c) {
  const int16_t* line = c->cells;
  if (to->y && !to->bits && c->pairs >= 2 && c->pairs <= 4) {
    const int bytes = (int)sizeof *line;
    quantized_dsp_row row = {c->w,
                             c->lines,
                             (c->lines * c->pitch - QUANTIZED_MICRO_PIXELS * c->stride) * bytes,
                             NULL,
                             c->bias,
                             to->result->zero_point,
                             to->y + at,
                             c->step,
                             c->scale,
                             c->pitch * bytes};
    for (int i = 0; i < c->rows; ++i, line += c->row_cells) {
      row.end = line + c->width * c->stride;
      quantized_dsp_one_row(&row, line, c->pairs, c->stride);
      row.y += (ptrdiff_t)c->width * c->step;
    }
    return;
  }
  for (int row = 0; row < c->rows; ++row, line += c->row_cells) {
    const int16_t* cells = line;
    for (int q = 0; q < c->width; q += QUANTIZED_MICRO_PIXELS) {
      int32_t v[QUANTIZED_MICRO_PIXELS];
      quantized_dsp_windows(v, cells, c->w, c->lines, c->pairs, c->pitch, c->stride);
      quantized_dsp_levels(v, c->bias, c->scale, to->result->zero_point);
      quantized_dsp_put(to, at, c->step, v);
      cells += QUANTIZED_MICRO_PIXELS * c->stride;
      at += QUANTIZED_MICRO_PIXELS * c->step;
    }
  }
}

/* The first `count` cells become 0; count: even. */
static void quantized_dsp_clear(int16_t* cells, int count) {
  uint32_t none = 0;
#if defined(__ARM_FEATURE_DSP)
  /* So that this becomes no call of memset, which writes bytes in small C libraries. */
  __asm__("" : "+r"(none));
#endif
  for (int16_t* const end = cells + count; cells != end; cells += 2) {
    memcpy(cells, &none, sizeof none);
  }
}

/* The cells of channels [k, k + 4) from row `first` of the image on. */
static void quantized_dsp_gather(quantized_dsp_planes* planes, const int8_t* x, int rows,
                                 const quantized_conv2d_dims* dims, int k, int first, int lines) {
  const conv_dims* d = &dims->conv;
  const uint32_t less = quantized_dsp_pair(-dims->input_zero_point, -dims->input_zero_point);
  const ptrdiff_t channels = d->c;
  const int room = planes->pitch - d->pad_left;
  const int columns = d->w < room ? d->w : room;
  for (int i = 0; i < lines; ++i) {
    const int row = first + i;
    if (row < 0 || row >= d->h) continue;
    const int8_t* from = x + (ptrdiff_t)(row % rows) * d->w * channels + k;
    int16_t* to = planes->of.cells + i * planes->pitch + d->pad_left;
    int16_t* const end = to + (columns & ~1);
    for (; to != end; to += 2) {
      const uint32_t left = quantized_dsp_word(from);
      const uint32_t right = quantized_dsp_word(from += channels);
      const uint32_t left_even = quantized_dsp_even(less, left);
      const uint32_t left_odd = quantized_dsp_odd(less, left);
      const uint32_t right_even = quantized_dsp_even(less, right);
      const uint32_t right_odd = quantized_dsp_odd(less, right);
      const uint32_t c0 = (left_even & 0xffffU) | right_even << 16;
      const uint32_t c1 = (left_odd & 0xffffU) | right_odd << 16;
      const uint32_t c2 = left_even >> 16 | (right_even & 0xffff0000U);
      const uint32_t c3 = left_odd >> 16 | (right_odd & 0xffff0000U);
      memcpy(to, &c0, sizeof c0);
      memcpy(to + QUANTIZED_DSP_CELLS, &c1, sizeof c1);
      memcpy(to + 2 * QUANTIZED_DSP_CELLS, &c2, sizeof c2);
      memcpy(to + 3 * QUANTIZED_DSP_CELLS, &c3, sizeof c3);
      from += channels;
    }
    if (columns % 2 != 0) {
      for (int c = 0; c < 4; ++c) {
        to[c * QUANTIZED_DSP_CELLS] = (int16_t)(from[c] - dims->input_zero_point);
      }
    }
  }
}

/* The rows of results that QUANTIZED_DSP_CELLS has room for; 0: see quantized_micro_row. */
static int quantized_dsp_depthwise_rows(const conv_dims* d, int pitch) {
  const int lines = QUANTIZED_DSP_CELLS / pitch;
  const int is_taken = d->groups == d->c && d->k == d->c && d->c % 4 == 0 && d->dilation_h == 1 &&
                       d->dilation_w == 1 && d->pad_left >= 0 && d->pad_left < pitch &&
                       (d->stride_w == 1 || d->stride_w == 2) &&
                       d->r * (d->s / 2 + 1) * 2 <= QUANTIZED_DSP_PAIRS && d->r <= lines;
  return is_taken ? (lines - d->r) / d->stride_h + 1 : 0;
}

/* Rows [p, last) of the results of one image, from number `at` on. */
static void quantized_dsp_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                               int rows, const int8_t* w, const int32_t* bias,
                               const quantized_conv2d_dims* dims, const quantized_factor* factors,
                               int p, int last) {
  const conv_dims* d = &dims->conv;
  const int channels = d->k;
  const ptrdiff_t row_results = (ptrdiff_t)d->q * channels;
  const int pairs = d->s / 2 + 1;
  const int covered =
      (d->q + QUANTIZED_MICRO_PIXELS - 1) / QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_PIXELS;
  /* The last pair of the last window has a cell of its own. */
  const int pitch = ((covered - 1) * d->stride_w + 2 * pairs + 1) & ~1;
  const int together = quantized_dsp_depthwise_rows(d, pitch);
  quantized_dsp_planes planes;
  if (together == 0) {
    for (; p < last; ++p, at += row_results) {
      quantized_micro_row(out, at, x, rows, w, bias, dims, factors, p);
    }
    return;
  }
  planes.pitch = pitch;
  while (p < last) {
    const int next = last - p < together ? last : p + together;
    const int lines = (next - p - 1) * d->stride_h + d->r;
    const int first = p * d->stride_h - d->pad_top;
    for (int c = 0; c < 4; ++c) {
      quantized_dsp_clear(planes.of.cells + c * QUANTIZED_DSP_CELLS, lines * pitch);
    }
    for (int k = 0; k < channels; ++k) {
      const int16_t* cells = planes.of.cells + (k & 3) * QUANTIZED_DSP_CELLS;
      const int32_t start = bias ? bias[k] : 0;
      const float scale = factors[k].scale;
      ptrdiff_t i = at + k;
      if ((k & 3) == 0) quantized_dsp_gather(&planes, x, rows, dims, k, first, lines);
      quantized_dsp_pairs(planes.pairs, w + (ptrdiff_t)k * d->r * d->s, d->r, d->s);
      if (out->is_plain && d->q % QUANTIZED_MICRO_PIXELS == 0) {
        const quantized_dsp_channel channel = {
            cells, planes.pairs,        start,      scale, next - p, d->q, channels, d->r, pairs,
            pitch, d->stride_h * pitch, d->stride_w};
        quantized_dsp_depthwise(out, i, &channel);
        continue;
      }
      for (int row = p; row < next; ++row, cells += d->stride_h * pitch) {
        for (int q = 0; q < d->q; q += QUANTIZED_MICRO_PIXELS) {
          const int left = d->q - q;
          const int count = left < QUANTIZED_MICRO_PIXELS ? left : QUANTIZED_MICRO_PIXELS;
          int32_t sums[QUANTIZED_MICRO_PIXELS];
          quantized_dsp_windows(sums, cells + q * d->stride_w, planes.pairs, d->r, pairs, pitch,
                                d->stride_w);
          quantized_micro_finish(out, i, channels, sums, count, start, &factors[k]);
          i += (ptrdiff_t)count * channels;
        }
      }
    }
    at += (next - p) * row_results;
    p = next;
  }
}

#ifndef QUANTIZED_HELIUM /* depthwise_helium.h has its own */
/* In the place of the function of conv_micro.h. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  quantized_dsp_rows(out, at, x, rows, w, bias, dims, factors, p, last);
}
#endif
