/* Rows of int8 convolutions for the target helium, depthwise ones by vectors of taps. Results are
   those of conv_micro.h. */
#include "ops/families/quantized/conv_helium.h"

/* Bytes of a channel of rows of the image, and most of such rows. */
#define QUANTIZED_HELIUM_PLANE 1024
#define QUANTIZED_HELIUM_LINES 32

/* A channel of a depthwise convolution: some rows of a window are one vector of taps. Four windows
   side by side are computed together. */
typedef struct quantized_helium_windows {
  int32_t start[4]; /* of the sums: four times the same */
  int8_t w[4][16];
  uint8_t places[4][16]; /* of the taps of a vector in each window, from the first tap on */
  uint32_t steps[8];     /* bytes from the first result to those of all windows; of their bits */
  int32_t bias;          /* added with saturation */
  float scale;
  int32_t zero;
  int32_t x_back;  /* bytes that the vectors go beyond the next windows */
  int32_t y_step;  /* from the results to those of the next windows */
  int32_t vectors; /* of a window */
  int32_t x_step;  /* from the cells of a vector to those of the next */
  uint8_t* bits;   /* of the first result */
  int32_t bit;
  int32_t bits_step;
  int32_t x_next;   /* windows: bytes to the next ones, in a row */
  int32_t together; /* four windows each, of a row */
  int32_t x_row;    /* bytes from the end of a row's windows to the next row's */
  int32_t rows;
} quantized_helium_windows;

/* Lines of `pitch` cells: channel k of n columns, `step` bytes apart, of the lines of an image.
   n, count: not 0; step: 8192 at most. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_gather(int8_t* to, const int8_t* const* lines,
                                                          int count, int k, int step, int n,
                                                          int pitch) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "mov r4, #0\n"
      "vidup.u16 q0, r4, #1\n"
      "vmul.i16 q0, q0, %[step]\n"
      "lsl %[step], %[step], #3\n"
      "2:\n"
      "ldr r4, [%[lines]], #4\n"
      "mov r5, %[to]\n"
      "add r4, r4, %[k]\n"
      "dlstp.16 lr, %[n]\n"
      "1:\n"
      "vldrb.u16 q1, [r4, q0]\n"
      "add r4, r4, %[step]\n"
      "vstrb.16 q1, [r5], #8\n"
      "letp lr, 1b\n"
      "add %[to], %[to], %[pitch]\n"
      "subs %[count], %[count], #1\n"
      "bne 2b\n"
      : [to] "+r"(to), [lines] "+r"(lines), [count] "+r"(count), [step] "+r"(step)
      : [k] "r"(k), [n] "r"(n), [pitch] "r"(pitch)
      : "lr", "r4", "r5", "q0", "q1", "cc", "memory");
#else
  for (int l = 0; l < count; ++l, to += pitch) {
    for (int i = 0; i < n; ++i) to[i] = lines[l][k + (ptrdiff_t)i * step];
  }
#endif
}

/* n weights, sixteen at most, then zeros. Returns their sum. */
static inline int32_t quantized_helium_vector(int8_t* to, const int8_t* w, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  int32_t sum;
  __asm__ volatile(
      "vctp.8 %[n]\n"
      "vpst\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vaddv.s8 %[sum], q0\n"
      "vstrb.8 q0, [%[to]]\n"
      : [sum] "=Te"(sum)
      : [n] "r"(n), [from] "r"(w), [to] "r"(to)
      : "q0", "memory");
#else
  int32_t sum = 0;
  memset(to, 0, 16);
  for (int i = 0; i < n; ++i) sum += to[i] = w[i];
#endif
  return sum;
}

/* The weights of a channel: `taps` of a vector, `all` of a window. Returns their sum. */
static inline int32_t quantized_helium_weights(quantized_helium_windows* t, const int8_t* w,
                                               int taps, int all) {
  int32_t sum = 0;
  for (int8_t* to = t->w[0]; all > 0; to += 16, w += taps, all -= taps) {
    sum += quantized_helium_vector(to, w, all < taps ? all : taps);
  }
  return sum;
}

#define QUANTIZED_HELIUM_WINDOWS \
  "add r1, %[c], #80\n"          \
  "vldrb.8 q0, [r1]\n"           \
  "vldrb.8 q1, [r1, #16]\n"      \
  "vldrb.8 q2, [r1, #32]\n"      \
  "vldrb.8 q3, [r1, #48]\n"      \
  "vldrw.32 q7, [%[c], #144]\n"  \
  "ldrd r3, r5, [%[c], #196]\n"  \
  "3:\n"                         \
  "ldr %[n], [%[c], #220]\n"     \
  "2:\n"                         \
  "ldm %[c], {r0, r2, r4, r6}\n" \
  "add r1, %[c], #16\n"          \
  "dls lr, r3\n"                 \
  "1:\n"                         \
  "vldrb.8 q4, [r1], #16\n"      \
  "vldrb.u8 q5, [%[x], q0]\n"    \
  "vmladava.s8 r0, q4, q5\n"     \
  "vldrb.u8 q6, [%[x], q1]\n"    \
  "vmladava.s8 r2, q4, q6\n"     \
  "vldrb.u8 q5, [%[x], q2]\n"    \
  "vmladava.s8 r4, q4, q5\n"     \
  "vldrb.u8 q6, [%[x], q3]\n"    \
  "vmladava.s8 r6, q4, q6\n"     \
  "add %[x], %[x], r5\n"         \
  "le lr, 1b\n"                  \
  "vmov d12, r0, r2\n"           \
  "vmov d13, r4, r6\n"           \
  "ldrd r0, r2, [%[c], #176]\n"  \
  "ldrd r4, r6, [%[c], #184]\n"  \
  "vqadd.s32 q6, q6, r0\n"       \
  "ldr r0, [%[c], #192]\n"       \
  "vcvt.f32.s32 q6, q6\n"        \
  "sub %[x], %[x], r6\n"         \
  "vmul.f32 q6, q6, r2\n"        \
  "vcvtn.s32.f32 q6, q6\n"       \
  "vqadd.s32 q6, q6, r4\n"       \
  "vqmovnb.s32 q5, q6\n"         \
  "vqmovnb.s16 q5, q5\n"         \
  "vstrb.32 q5, [%[y], q7]\n"    \
  "add %[y], %[y], r0\n"
#define QUANTIZED_HELIUM_NEXT_WINDOWS \
  "subs %[n], %[n], #1\n"             \
  "bne 2b\n"                          \
  "ldrd r0, r2, [%[c], #224]\n"       \
  "add %[x], %[x], r0\n"              \
  "subs r2, r2, #1\n"                 \
  "str r2, [%[c], #228]\n"            \
  "bne 3b\n"

/* Results of c->rows rows, and the bits of those within the bounds, if there are any. x: the first
   window. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_rows(int8_t* y, const int8_t* x,
                                                        quantized_helium_windows* c) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  int n = 0;
  if (c->bits) {
    __asm__ volatile(QUANTIZED_HELIUM_WINDOWS
                     "mov r2, #128\n"
                     "vldrw.32 q4, [%[c], #160]\n"
                     "vadd.i32 q6, q6, r2\n"
                     "ldrd r4, r0, [%[c], #204]\n"
                     "vmov.i32 q5, #255\n"
                     "vldrb.u32 q7, [r4, q4]\n"
                     "ldr r6, [%[c], #212]\n"
                     "vpt.u32 cs, q5, q6\n"
                     "vaddt.i32 q7, q7, r0\n"
                     "vstrb.32 q7, [r4, q4]\n"
                     "add r4, r4, r6\n"
                     "vldrw.32 q7, [%[c], #144]\n"
                     "str r4, [%[c], #204]\n" QUANTIZED_HELIUM_NEXT_WINDOWS
                     : [y] "+r"(y), [x] "+r"(x), [n] "+r"(n)
                     : [c] "r"(c)
                     : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4",
                       "q5", "q6", "q7", "cc", "memory");
    return;
  }
  __asm__ volatile(QUANTIZED_HELIUM_WINDOWS QUANTIZED_HELIUM_NEXT_WINDOWS
                   : [y] "+r"(y), [x] "+r"(x), [n] "+r"(n)
                   : [c] "r"(c)
                   : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4",
                     "q5", "q6", "q7", "cc", "memory");
#else
  for (; c->rows > 0; --c->rows, x += c->x_row) {
    for (int q = 0; q < c->together; ++q, x += c->x_next, y += c->y_step) {
      for (int j = 0; j < 4; ++j) {
        int32_t sum = c->start[j], v;
        for (int i = 0; i < 16 * c->vectors; ++i) {
          sum += x[i / 16 * c->x_step + c->places[j][i % 16]] * c->w[i / 16][i % 16];
        }
        sum = quantized_saturate((int64_t)sum + c->bias);
        v = quantized_nearest((float)sum * c->scale) + c->zero;
        y[c->steps[j]] = (int8_t)quantized_dsp_byte(v);
        if (c->bits) {
          quantized_dsp_mark(c->bits + c->steps[4 + j], c->bit, (uint32_t)v + 128U < 256U);
        }
      }
      if (c->bits) c->bits += c->bits_step;
    }
  }
#endif
}

/* The same without bits, where a window is one vector and nothing saturates. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_small_rows(int8_t* y, const int8_t* x,
                                                              quantized_helium_windows* c) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "add r1, %[c], #80\n"
      "vldrb.8 q0, [r1]\n"
      "vldrb.8 q1, [r1, #16]\n"
      "vldrb.8 q2, [r1, #32]\n"
      "vldrb.8 q3, [r1, #48]\n"
      "vldrb.8 q4, [%[c], #16]\n"
      "vldrw.32 q7, [%[c], #144]\n"
      "ldr r0, [%[c]]\n"
      "ldrd r1, r3, [%[c], #176]\n"
      "add r1, r1, r0\n"
      "ldr r5, [%[c], #184]\n"
      "ldr r8, [%[c], #192]\n"
      "3:\n"
      "ldrd r0, lr, [%[c], #216]\n"
      "mov r10, r0\n"
      "dls lr, lr\n"
      "2:\n"
      "vldrb.u8 q5, [%[x], q0]\n"
      "vmladav.s8 r0, q4, q5\n"
      "vldrb.u8 q6, [%[x], q1]\n"
      "vmladav.s8 r2, q4, q6\n"
      "vldrb.u8 q5, [%[x], q2]\n"
      "vmladav.s8 r4, q4, q5\n"
      "vldrb.u8 q6, [%[x], q3]\n"
      "vmladav.s8 r6, q4, q6\n"
      "vmov d12, r0, r2\n"
      "vmov d13, r4, r6\n"
      "vadd.i32 q6, q6, r1\n"
      "add %[x], %[x], r10\n"
      "vcvt.f32.s32 q6, q6\n"
      "vmul.f32 q6, q6, r3\n"
      "vcvtn.s32.f32 q6, q6\n"
      "vqadd.s32 q6, q6, r5\n"
      "vqmovnb.s32 q6, q6\n"
      "vqmovnb.s16 q6, q6\n"
      "vstrb.32 q6, [%[y], q7]\n"
      "add %[y], %[y], r8\n"
      "le lr, 2b\n"
      "ldrd r0, r2, [%[c], #224]\n"
      "add %[x], %[x], r0\n"
      "subs r2, r2, #1\n"
      "str r2, [%[c], #228]\n"
      "bne 3b\n"
      : [y] "+r"(y), [x] "+r"(x)
      : [c] "r"(c)
      : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "q0", "q1", "q2", "q3", "q4",
        "q5", "q6", "q7", "cc", "memory");
#else
  quantized_helium_rows(y, x, c);
#endif
}

/* Rows of windows that are one vector. */
static inline int quantized_helium_vector_rows(const conv_dims* d) {
  return 16 / d->s < d->r ? 16 / d->s : d->r;
}

/* Some rows of a channel that is no small one. y, window: of the first result. */
static void quantized_helium_any_rows(int8_t* y, const int8_t* window, quantized_helium_windows* c,
                                      const conv_dims* d, int pitch, int rows) {
  const int by_row = d->q % QUANTIZED_MICRO_PIXELS != 0;
  const int last_four = d->q - QUANTIZED_MICRO_PIXELS;
  if (!by_row) {
    quantized_helium_rows(y, window, c);
    return;
  }
  for (; rows > 0; --rows, window += d->stride_h * pitch, y += (ptrdiff_t)d->q * d->k) {
    const int whole = c->together;
    c->rows = 1;
    quantized_helium_rows(y, window, c);
    /* The last four, of which some are computed again. */
    c->together = c->rows = 1;
    quantized_helium_rows(y + (ptrdiff_t)last_four * d->k, window + last_four * d->stride_w, c);
    c->together = whole;
  }
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
  const int room = pitch - d->pad_left;
  const int columns = d->w < room ? d->w : room;
  const int all = d->r * d->s;
  const int taps = quantized_helium_vector_rows(d) * d->s;
  const int channels = d->k;
  const int zero = dims->input_zero_point;
  const int8_t* lines[QUANTIZED_HELIUM_LINES];
  int8_t plane[QUANTIZED_HELIUM_PLANE];
  quantized_helium_windows c;
  int is_small;
  c.vectors = (all + taps - 1) / taps;
  c.x_step = taps / d->s * pitch;
  c.x_next = QUANTIZED_MICRO_PIXELS * d->stride_w;
  c.x_back = c.vectors * c.x_step - c.x_next;
  c.y_step = out->y ? QUANTIZED_MICRO_PIXELS * channels : 0;
  c.bits_step = QUANTIZED_MICRO_PIXELS * channels / 8;
  c.zero = out->result->zero_point;
  c.together = d->q / QUANTIZED_MICRO_PIXELS;
  c.x_row = d->stride_h * pitch - c.together * c.x_next;
  is_small = c.vectors == 1 && !out->bits && d->q % QUANTIZED_MICRO_PIXELS == 0;
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    c.steps[j] = out->y ? (uint32_t)(j * channels) : 0;
    c.steps[4 + j] = (uint32_t)(j * channels / 8);
    memset(c.places[j], 0, sizeof c.places[j]);
    for (int i = 0, t = 0; t < taps; ++i) {
      for (int s = 0; s < d->s; ++s, ++t) {
        c.places[j][t] = (uint8_t)(i * pitch + s + j * d->stride_w);
      }
    }
  }
  while (p < last) {
    const int next = last - p < together ? last : p + together;
    const int first = p * d->stride_h - d->pad_top;
    const int above = first < 0 ? -first : 0; /* lines that lie there */
    int8_t* const inside = plane + above * pitch + d->pad_left;
    const int8_t* weights = w;
    const int32_t* start = bias;
    const quantized_factor* factor = factors;
    int8_t none = 0;
    int8_t* y = out->y ? out->y + at : &none;
    int below = first + (next - p - 1) * d->stride_h + d->r;
    int count = 0;
    if (below > d->h) below = d->h;
    for (int row = first + above; row < below; ++row) {
      lines[count++] = x + (ptrdiff_t)(row % rows) * d->w * d->c;
    }
    memset(plane, zero, sizeof plane);
    for (int k = 0; k < channels; ++k, ++factor, weights += all) {
      const int32_t added = start ? *start++ : 0;
      const int32_t less = -zero * quantized_helium_weights(&c, weights, taps, all);
      for (int j = 0; j < 4; ++j) c.start[j] = less;
      c.bias = added;
      c.scale = factor->scale;
      c.rows = next - p;
      if (count > 0) quantized_helium_gather(inside, lines, count, k, channels, columns, pitch);
      if (is_small && (uint32_t)added + 0x40000000U < 0x80000000U) {
        quantized_helium_small_rows(y, plane, &c);
      } else {
        c.bits = out->bits ? out->bits + (at + k) / 8 : NULL;
        c.bit = 1 << (k & 7);
        quantized_helium_any_rows(y, plane, &c, d, pitch, next - p);
      }
      if (out->y) ++y;
    }
    at += (ptrdiff_t)(next - p) * d->q * channels;
    p = next;
  }
}

/* The rows of results that QUANTIZED_HELIUM_PLANE has room for; 0: see quantized_dsp_rows. */
static int quantized_helium_depthwise_rows(const conv_dims* d, int pitch) {
  const int is_taken = d->groups == d->c && d->k == d->c && d->s <= 16 && d->c <= 8192 &&
                       d->dilation_h == 1 && d->dilation_w == 1 && d->pad_left >= 0 &&
                       d->pad_left < pitch && d->q >= QUANTIZED_MICRO_PIXELS;
  int vector_rows, vectors, lines;
  if (!is_taken) return 0;
  vector_rows = quantized_helium_vector_rows(d);
  vectors = (d->r + vector_rows - 1) / vector_rows;
  lines = QUANTIZED_HELIUM_PLANE / pitch - (vectors * vector_rows - d->r);
  if (lines > QUANTIZED_HELIUM_LINES) lines = QUANTIZED_HELIUM_LINES;
  if ((vector_rows - 1) * pitch + d->s - 1 + 3 * d->stride_w > 255) return 0;
  return vectors <= 4 && lines >= d->r ? (lines - d->r) / d->stride_h + 1 : 0;
}

/* Rows [p, last) of the results of one image, from number `at` on; in the place of the function of
   conv_micro.h. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  const conv_dims* d = &dims->conv;
  const int is_plain = out->is_plain && (out->bits == NULL || d->k % 8 == 0);
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->h == d->p && d->w == d->q && d->pad_top == 0 && d->pad_left == 0;
  if (is_plain && d->groups == 1 && d->k % 4 == 0 && d->dilation_h == 1 && d->dilation_w == 1 &&
      d->r * d->s * d->c <= QUANTIZED_MICRO_TAPS) {
    if (is_pointwise && (rows >= d->h || last - p == 1)) {
      quantized_helium_pixels(out, at, x + (ptrdiff_t)(p % rows) * d->w * d->c, (last - p) * d->q,
                              w, bias, dims, factors);
    } else {
      quantized_helium_dense(out, at, x, rows, w, bias, dims, factors, p, last);
    }
    return;
  }
  if (is_plain && (out->bits == NULL || d->q % QUANTIZED_MICRO_PIXELS == 0)) {
    const int pitch = (d->q - 1) * d->stride_w + d->s;
    const int together = quantized_helium_depthwise_rows(d, pitch);
    if (together > 0) {
      quantized_helium_depthwise(out, at, x, rows, w, bias, dims, factors, p, last, pitch,
                                 together);
      return;
    }
  }
  quantized_dsp_rows(out, at, x, rows, w, bias, dims, factors, p, last);
}
