/* Rows of int8 convolutions in instructions of Helium (Cortex-M55 and later), for the target
   helium: sixteen products at a time. Results are those of conv_micro.h. On other processors they
   are computed in plain C99, for tests. Source: Arm, "Armv8-M Architecture Reference Manual". */
#define QUANTIZED_HELIUM
#include "ops/families/quantized/depthwise_cortex_m_dsp.h"

/* Where results of one channel go, four pixels at a time, and what becomes of their sums. */
typedef struct quantized_helium_channel {
  int32_t offset; /* added to sums; what the bias adds saturates */
  int32_t bias;
  float scale;
  int32_t zero;
  uint32_t steps[8]; /* bytes from the result of the first pixel to those of all four; of bits */
  int bit;
} quantized_helium_channel;

/* The sum of n numbers. */
static inline int32_t quantized_helium_total(const int8_t* w, int n) {
  int32_t sum = 0;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dlstp.8 lr, %[n]\n"
      "1:\n"
      "vldrb.8 q0, [%[w]], #16\n"
      "vaddva.s8 %[sum], q0\n"
      "letp lr, 1b\n"
      : [sum] "+Te"(sum), [w] "+r"(w)
      : [n] "r"(n)
      : "lr", "q0", "cc", "memory");
#else
  for (int i = 0; i < n; ++i) sum += w[i];
#endif
  return sum;
}

/* to[0..n) = from[0..n); n: not 0. */
static inline void quantized_helium_copy(int8_t* to, const int8_t* from, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dlstp.8 lr, %[n]\n"
      "1:\n"
      "vldrb.8 q0, [%[from]], #16\n"
      "vstrb.8 q0, [%[to]], #16\n"
      "letp lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [n] "r"(n)
      : "lr", "q0", "cc", "memory");
#else
  memcpy(to, from, (size_t)n);
#endif
}

/* to[0..n) = from[0], from[step] ...; n: not 0, step: 8192 at most. */
static inline void quantized_helium_gather(int8_t* to, const int8_t* from, int step, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "mov r4, #0\n"
      "vidup.u16 q0, r4, #1\n"
      "vmul.i16 q0, q0, %[step]\n"
      "dlstp.16 lr, %[n]\n"
      "1:\n"
      "vldrb.u16 q1, [%[from], q0]\n"
      "add %[from], %[from], %[eight]\n"
      "vstrb.16 q1, [%[to]], #8\n"
      "letp lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [n] "r"(n), [step] "r"(step), [eight] "r"(8 * step)
      : "lr", "r4", "q0", "q1", "cc", "memory");
#else
  for (int i = 0; i < n; ++i) to[i] = from[(ptrdiff_t)i * step];
#endif
}

/* sums = offset + the products of n weights by those of four pixels, `step` apart; n: not 0. */
static inline void quantized_helium_sums(int32_t* sums, int32_t offset, const int8_t* x,
                                         ptrdiff_t step, const int8_t* w, int n) {
  const int8_t* x1 = x + step;
  const int8_t* x2 = x1 + step;
  const int8_t* x3 = x2 + step;
  int32_t s0 = offset, s1 = offset, s2 = offset, s3 = offset;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dlstp.8 lr, %[n]\n"
      "1:\n"
      "vldrb.8 q0, [%[w]], #16\n"
      "vldrb.8 q1, [%[x0]], #16\n"
      "vmladava.s8 %[s0], q0, q1\n"
      "vldrb.8 q2, [%[x1]], #16\n"
      "vmladava.s8 %[s1], q0, q2\n"
      "vldrb.8 q1, [%[x2]], #16\n"
      "vmladava.s8 %[s2], q0, q1\n"
      "vldrb.8 q2, [%[x3]], #16\n"
      "vmladava.s8 %[s3], q0, q2\n"
      "letp lr, 1b\n"
      : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [w] "+r"(w), [x0] "+r"(x),
        [x1] "+r"(x1), [x2] "+r"(x2), [x3] "+r"(x3)
      : [n] "r"(n)
      : "lr", "q0", "q1", "q2", "cc", "memory");
#else
  for (int i = 0; i < n; ++i) {
    s0 += x[i] * w[i];
    s1 += x1[i] * w[i];
    s2 += x2[i] * w[i];
    s3 += x3[i] * w[i];
  }
#endif
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

/* The sums of four pixels become levels in q0: results that are not clamped yet. */
#define QUANTIZED_HELIUM_LEVELS \
  "vmov d0, %[s0], %[s1]\n"     \
  "vmov d1, %[s2], %[s3]\n"     \
  "vqadd.s32 q0, q0, %[bias]\n" \
  "vcvt.f32.s32 q0, q0\n"       \
  "vmul.f32 q0, q0, %[scale]\n" \
  "vldrw.32 q1, [%[steps]]\n"   \
  "vcvtn.s32.f32 q0, q0\n"      \
  "vqadd.s32 q0, q0, %[zero]\n" \
  "vqmovnb.s32 q2, q0\n"        \
  "vqmovnb.s16 q2, q2\n"        \
  "vstrb.32 q2, [%[y], q1]\n"
#define QUANTIZED_HELIUM_LEVELS_OF                                                                 \
  [s0] "r"(sums[0]), [s1] "r"(sums[1]), [s2] "r"(sums[2]), [s3] "r"(sums[3]), [bias] "r"(c->bias), \
      [scale] "r"(c->scale), [zero] "r"(c->zero), [steps] "r"(c->steps), [y] "r"(y)

/* Results of four pixels; bits: NULL, or the byte of the first pixel's bit. */
static inline void quantized_helium_put(int8_t* y, uint8_t* bits, const quantized_helium_channel* c,
                                        const int32_t* sums) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  if (bits) {
    __asm__ volatile(
        QUANTIZED_HELIUM_LEVELS
        "vldrw.32 q1, [%[steps], #16]\n"
        "vadd.i32 q0, q0, %[half]\n"
        "vdup.32 q3, %[bit]\n"
        "vmov.i32 q4, #255\n"
        "vldrb.u32 q2, [%[bits], q1]\n"
        "vpt.u32 cs, q4, q0\n"
        "vorrt q2, q2, q3\n"
        "vstrb.32 q2, [%[bits], q1]\n"
        :
        : QUANTIZED_HELIUM_LEVELS_OF, [bits] "r"(bits), [bit] "r"(c->bit), [half] "r"(128)
        : "q0", "q1", "q2", "q3", "q4", "memory");
  } else {
    __asm__ volatile(QUANTIZED_HELIUM_LEVELS
                     :
                     : QUANTIZED_HELIUM_LEVELS_OF
                     : "q0", "q1", "q2", "memory");
  }
#else
  for (int j = 0; j < 4; ++j) {
    const int32_t sum = quantized_saturate((int64_t)sums[j] + c->bias);
    const int32_t v = quantized_nearest((float)sum * c->scale) + c->zero;
    y[c->steps[j]] = (int8_t)quantized_dsp_byte(v);
    if (bits) quantized_dsp_mark(bits + c->steps[4 + j], c->bit, (uint32_t)v + 128U < 256U);
  }
#endif
}

/* Results whose pixels are `channels` apart. */
static void quantized_helium_steps(quantized_helium_channel* c, const quantized_micro_out* to,
                                   int channels) {
  for (int j = 0; j < 4; ++j) {
    c->steps[j] = to->y ? (uint32_t)(j * channels) : 0;
    c->steps[4 + j] = (uint32_t)(j * channels / 8);
  }
}

/* All channels of n pixels, four at least, from number `at` on. x: taps of the first pixel, `step`
   bytes before those of the next. */
static void quantized_helium_pixels(const quantized_micro_out* to, ptrdiff_t at, const int8_t* x,
                                    ptrdiff_t step, int n, const int8_t* w, const int32_t* bias,
                                    const quantized_conv2d_dims* dims,
                                    const quantized_factor* factors) {
  const int channels = dims->conv.k;
  const int taps = dims->conv.r * dims->conv.s * dims->conv.c;
  const int last = n - QUANTIZED_MICRO_PIXELS;
  quantized_helium_channel c;
  quantized_helium_steps(&c, to, channels);
  for (int k = 0; k < channels; ++k, ++at, w += taps) {
    c.bias = bias ? bias[k] : 0;
    c.scale = factors[k].scale;
    c.zero = to->result->zero_point;
    c.bit = 1 << (k & 7);
    c.offset =
        dims->input_zero_point == 0 ? 0 : -dims->input_zero_point * quantized_helium_total(w, taps);
    for (int q = 0;; q = q + QUANTIZED_MICRO_PIXELS < last ? q + QUANTIZED_MICRO_PIXELS : last) {
      const ptrdiff_t i = at + (ptrdiff_t)q * channels;
      int32_t sums[QUANTIZED_MICRO_PIXELS];
      int8_t none = 0;
      quantized_helium_sums(sums, c.offset, x + q * step, step, w, taps);
      quantized_helium_put(to->y ? to->y + i : &none, to->bits ? to->bits + i / 8 : NULL, &c, sums);
      if (q >= last) break;
    }
  }
}

/* Bytes of windows that are copied side by side, and of a channel of rows of the image. */
#define QUANTIZED_HELIUM_BYTES 2560
#define QUANTIZED_HELIUM_PLANE 1024

/* The window of pixel (p, q), dilation 1; what lies outside of the image is the zero point. */
static void quantized_helium_window(int8_t* to, const int8_t* x, int rows,
                                    const quantized_conv2d_dims* dims, int p, int q) {
  const conv_dims* d = &dims->conv;
  const int left = q * d->stride_w - d->pad_left;
  const int first = left < 0 ? (-left < d->s ? -left : d->s) : 0;
  const int inside = d->w - left;
  const int last = inside < first ? first : inside < d->s ? inside : d->s;
  const int bytes = (last - first) * d->c;
  for (int r = 0; r < d->r; ++r, to += d->s * d->c) {
    const int row = p * d->stride_h - d->pad_top + r;
    const int is_inside = row >= 0 && row < d->h && bytes > 0;
    if (!is_inside || last - first < d->s) {
      memset(to, dims->input_zero_point, (size_t)(d->s * d->c));
    }
    if (!is_inside) continue;
    quantized_helium_copy(to + first * d->c,
                          x + ((ptrdiff_t)(row % rows) * d->w + left + first) * d->c, bytes);
  }
}

/* Rows [p, last) where all channels are read. */
static void quantized_helium_dense(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                   int rows, const int8_t* w, const int32_t* bias,
                                   const quantized_conv2d_dims* dims,
                                   const quantized_factor* factors, int p, int last) {
  const conv_dims* d = &dims->conv;
  const ptrdiff_t taps = (ptrdiff_t)d->r * d->s * d->c;
  const int room = (int)(QUANTIZED_HELIUM_BYTES / taps);
  const int n = d->q < room ? d->q : room;
  int8_t windows[QUANTIZED_HELIUM_BYTES];
  for (; p < last; ++p, at += (ptrdiff_t)d->q * d->k) {
    for (int q = 0;; q = q + n < d->q - n ? q + n : d->q - n) {
      for (int j = 0; j < n; ++j) {
        quantized_helium_window(windows + j * taps, x, rows, dims, p, q + j);
      }
      quantized_helium_pixels(out, at + (ptrdiff_t)q * d->k, windows, taps, n, w, bias, dims,
                              factors);
      if (q + n >= d->q) break;
    }
  }
}

/* Windows of a depthwise convolution: some rows of a window are one vector of taps. */
typedef struct quantized_helium_taps {
  uint8_t places[4][16]; /* of the taps of such rows in four windows, from the first tap on */
  int8_t w[4][16];       /* weights of all of them */
  int rows;              /* of a vector */
  int vectors;           /* of a window */
  int step;              /* from the cells of a vector to those of the next */
} quantized_helium_taps;

/* The weights of a channel. Returns their sum. */
static inline int32_t quantized_helium_weights(quantized_helium_taps* t, const int8_t* w,
                                               const conv_dims* d) {
  const int all = d->r * d->s;
  const int taps = t->rows * d->s;
  int32_t sum = 0;
  for (int g = 0; g < t->vectors; ++g) {
    const int n = all - g * taps < taps ? all - g * taps : taps;
    const int8_t* const from = w + g * taps;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
    __asm__ volatile(
        "vctp.8 %[n]\n"
        "vpst\n"
        "vldrbt.8 q0, [%[from]]\n"
        "vaddva.s8 %[sum], q0\n"
        "vstrb.8 q0, [%[to]]\n"
        : [sum] "+Te"(sum)
        : [n] "r"(n), [from] "r"(from), [to] "r"(t->w[g])
        : "q0", "memory");
#else
    memset(t->w[g], 0, sizeof t->w[g]);
    for (int i = 0; i < n; ++i) sum += t->w[g][i] = from[i];
#endif
  }
  return sum;
}

/* sums = offset + the products of four windows, the first of which begins at x. */
static inline void quantized_helium_windows(int32_t* sums, int32_t offset, const int8_t* x,
                                            const quantized_helium_taps* t) {
  int32_t s0 = offset, s1 = offset, s2 = offset, s3 = offset;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  const int8_t* w = t->w[0];
  __asm__ volatile(
      "vldrb.8 q0, [%[places]]\n"
      "vldrb.8 q1, [%[places], #16]\n"
      "vldrb.8 q2, [%[places], #32]\n"
      "vldrb.8 q3, [%[places], #48]\n"
      "dls lr, %[n]\n"
      "1:\n"
      "vldrb.8 q4, [%[w]], #16\n"
      "vldrb.u8 q5, [%[x], q0]\n"
      "vmladava.s8 %[s0], q4, q5\n"
      "vldrb.u8 q6, [%[x], q1]\n"
      "vmladava.s8 %[s1], q4, q6\n"
      "vldrb.u8 q5, [%[x], q2]\n"
      "vmladava.s8 %[s2], q4, q5\n"
      "vldrb.u8 q6, [%[x], q3]\n"
      "vmladava.s8 %[s3], q4, q6\n"
      "add %[x], %[x], %[step]\n"
      "le lr, 1b\n"
      : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [w] "+r"(w), [x] "+r"(x)
      : [n] "r"(t->vectors), [step] "r"(t->step), [places] "r"(t->places)
      : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "cc", "memory");
#else
  for (int g = 0; g < t->vectors; ++g, x += t->step) {
    for (int i = 0; i < 16; ++i) {
      const int8_t tap = t->w[g][i];
      s0 += x[t->places[0][i]] * tap;
      s1 += x[t->places[1][i]] * tap;
      s2 += x[t->places[2][i]] * tap;
      s3 += x[t->places[3][i]] * tap;
    }
  }
#endif
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

/* Rows [p, last) of a depthwise convolution: lines of `pitch` cells of one channel at a time, in
   which what lies outside of the image is the zero point. together: rows for which there is room.
 */
static void quantized_helium_depthwise(const quantized_micro_out* out, ptrdiff_t at,
                                       const int8_t* x, int rows, const int8_t* w,
                                       const int32_t* bias, const quantized_conv2d_dims* dims,
                                       const quantized_factor* factors, int p, int last, int pitch,
                                       int together) {
  const conv_dims* d = &dims->conv;
  const ptrdiff_t row_results = (ptrdiff_t)d->q * d->k;
  const int end = d->q - QUANTIZED_MICRO_PIXELS;
  const int room = pitch - d->pad_left;
  const int columns = d->w < room ? d->w : room;
  int8_t plane[QUANTIZED_HELIUM_PLANE];
  quantized_helium_taps t;
  quantized_helium_channel c;
  quantized_helium_steps(&c, out, d->k);
  c.zero = out->result->zero_point;
  t.rows = 16 / d->s < d->r ? 16 / d->s : d->r;
  t.vectors = (d->r + t.rows - 1) / t.rows;
  t.step = t.rows * pitch;
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    memset(t.places[j], 0, sizeof t.places[j]);
    for (int i = 0; i < t.rows * d->s; ++i) {
      t.places[j][i] = (uint8_t)(i / d->s * pitch + i % d->s + j * d->stride_w);
    }
  }
  while (p < last) {
    const int next = last - p < together ? last : p + together;
    const int lines = (next - p - 1) * d->stride_h + d->r;
    const int first = p * d->stride_h - d->pad_top;
    memset(plane, dims->input_zero_point, sizeof plane);
    for (int k = 0; k < d->k; ++k) {
      const int32_t sum = quantized_helium_weights(&t, w + (ptrdiff_t)k * d->r * d->s, d);
      const int8_t* line = plane;
      ptrdiff_t i = at + k;
      c.bias = bias ? bias[k] : 0;
      c.scale = factors[k].scale;
      c.bit = 1 << (k & 7);
      c.offset = -dims->input_zero_point * sum;
      for (int l = 0; l < lines; ++l) {
        const int row = first + l;
        if (row < 0 || row >= d->h) continue;
        quantized_helium_gather(plane + l * pitch + d->pad_left,
                                x + (ptrdiff_t)(row % rows) * d->w * d->c + k, d->c, columns);
      }
      for (int row = p; row < next; ++row, line += d->stride_h * pitch, i += row_results) {
        for (int q = 0;; q = q + QUANTIZED_MICRO_PIXELS < end ? q + QUANTIZED_MICRO_PIXELS : end) {
          const ptrdiff_t to = i + (ptrdiff_t)q * d->k;
          int32_t sums[QUANTIZED_MICRO_PIXELS];
          int8_t none = 0;
          quantized_helium_windows(sums, c.offset, line + q * d->stride_w, &t);
          quantized_helium_put(out->y ? out->y + to : &none, out->bits ? out->bits + to / 8 : NULL,
                               &c, sums);
          if (q >= end) break;
        }
      }
    }
    at += (next - p) * row_results;
    p = next;
  }
}

/* The rows of results that QUANTIZED_HELIUM_PLANE has room for; 0: see quantized_dsp_rows. */
static int quantized_helium_depthwise_rows(const conv_dims* d, int pitch) {
  const int taps_rows = 16 / d->s < d->r ? 16 / d->s : d->r;
  const int is_taken = d->groups == d->c && d->k == d->c && d->s <= 16 && d->c <= 8192 &&
                       d->dilation_h == 1 && d->dilation_w == 1 && d->pad_left >= 0 &&
                       d->pad_left < pitch;
  int vectors, lines;
  if (!is_taken || (taps_rows - 1) * pitch + d->s - 1 + 3 * d->stride_w > 255) return 0;
  vectors = (d->r + taps_rows - 1) / taps_rows;
  lines = QUANTIZED_HELIUM_PLANE / pitch - (vectors * taps_rows - d->r);
  return vectors <= 4 && lines >= d->r ? (lines - d->r) / d->stride_h + 1 : 0;
}

/* Rows [p, last) of the results of one image, from number `at` on; in the place of the function of
   conv_micro.h. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  const conv_dims* d = &dims->conv;
  const int taps = d->r * d->s * d->c;
  const int is_taken = out->is_plain && (out->bits == NULL || d->k % 8 == 0);
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->h == d->p && d->w == d->q && d->pad_top == 0 && d->pad_left == 0;
  const int pitch = (d->q - 1) * d->stride_w + d->s;
  const int is_whole = rows >= d->h;
  if (is_taken && d->groups == 1 && taps <= QUANTIZED_MICRO_TAPS && is_pointwise &&
      (is_whole || last - p == 1) && (last - p) * d->q >= QUANTIZED_MICRO_PIXELS) {
    quantized_helium_pixels(out, at, x + (ptrdiff_t)(p % rows) * d->w * d->c, d->c,
                            (last - p) * d->q, w, bias, dims, factors);
    return;
  }
  if (is_taken && d->groups == 1 && taps <= QUANTIZED_MICRO_TAPS && d->dilation_h == 1 &&
      d->dilation_w == 1 && d->q >= QUANTIZED_MICRO_PIXELS) {
    quantized_helium_dense(out, at, x, rows, w, bias, dims, factors, p, last);
    return;
  }
  if (is_taken && d->q >= QUANTIZED_MICRO_PIXELS) {
    const int together = quantized_helium_depthwise_rows(d, pitch);
    if (together > 0) {
      quantized_helium_depthwise(out, at, x, rows, w, bias, dims, factors, p, last, pitch,
                                 together);
      return;
    }
  }
  quantized_dsp_rows(out, at, x, rows, w, bias, dims, factors, p, last);
}
