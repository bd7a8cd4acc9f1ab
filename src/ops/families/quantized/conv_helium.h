/* Rows of int8 convolutions in instructions of Helium (Cortex-M55 and later), for the target
   helium: sixteen products at a time. Results are those of conv_micro.h. On other processors they
   are computed in plain C99, for tests. Source: Arm, "Armv8-M Architecture Reference Manual". */
#define QUANTIZED_HELIUM
#include "ops/families/quantized/depthwise_cortex_m_dsp.h"

/* What vectors do not take is rare: it is left to C, which is shorter. */
static int quantized_dsp_all_rows(const quantized_dsp_rows_of* rows, int pairs, int stride,
                                  int lines, int to_halves) {
  (void)rows;
  (void)pairs;
  (void)stride;
  (void)lines;
  (void)to_halves;
  return 0;
}
static int quantized_dsp_four(const quantized_dsp_group* g) {
  (void)g;
  return 0;
}

/* Of functions that have registers to themselves. */
#define QUANTIZED_HELIUM_ROOM __attribute__((noinline))

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

/* Four channels of a convolution. */
typedef struct quantized_helium_block {
  int32_t start[4]; /* of the sums */
  const int8_t* w[4];
  int32_t bias[4]; /* added with saturation */
  float scale[4];
  int32_t taps;
  int32_t zero;
  int32_t back; /* bytes that are read beyond the taps of a pixel */
  int32_t step; /* from the results of a pixel to those of the next */
  uint32_t marks[4];
  uint8_t* bits; /* of the first pixel */
  int32_t bits_step;
} quantized_helium_block;

/* Sets the starts of the sums: of each channel the weights times -zero. */
static inline void quantized_helium_starts(quantized_helium_block* c, int32_t zero) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "ldr lr, [%[c], #64]\n"
      "add r0, %[c], #16\n"
      "ldm r0, {r8-r11}\n"
      "mov r0, #0\n"
      "mov r2, #0\n"
      "mov r4, #0\n"
      "mov r6, #0\n"
      "dlstp.8 lr, lr\n"
      "1:\n"
      "vldrb.8 q0, [r8], #16\n"
      "vaddva.s8 r0, q0\n"
      "vldrb.8 q1, [r9], #16\n"
      "vaddva.s8 r2, q1\n"
      "vldrb.8 q0, [r10], #16\n"
      "vaddva.s8 r4, q0\n"
      "vldrb.8 q1, [r11], #16\n"
      "vaddva.s8 r6, q1\n"
      "letp lr, 1b\n"
      "vmov d0, r0, r2\n"
      "vmov d1, r4, r6\n"
      "vmul.i32 q0, q0, %[less]\n"
      "vstrw.32 q0, [%[c]]\n"
      :
      : [c] "r"(c), [less] "r"(-zero)
      : "lr", "r0", "r2", "r4", "r6", "r8", "r9", "r10", "r11", "q0", "q1", "cc", "memory");
#else
  for (int j = 0; j < 4; ++j) {
    int32_t sum = 0;
    for (int i = 0; i < c->taps; ++i) sum += c->w[j][i];
    c->start[j] = -zero * sum;
  }
#endif
}

/* Sums in r0, r2, r4 and r6 become levels in q0, results that are not clamped yet, and results.
   q4, q5: bias and scale. */
#define QUANTIZED_HELIUM_RESULTS \
  "vmov d0, r0, r2\n"            \
  "vmov d1, r4, r6\n"            \
  "vqadd.s32 q0, q0, q4\n"       \
  "vcvt.f32.s32 q0, q0\n"        \
  "vmul.f32 q0, q0, q5\n"        \
  "vcvtn.s32.f32 q0, q0\n"       \
  "vqadd.s32 q0, q0, q6\n"       \
  "vqmovnb.s32 q1, q0\n"         \
  "vqmovnb.s16 q1, q1\n"         \
  "vstrb.32 q1, [%[y]]\n"
#define QUANTIZED_HELIUM_DOTS            \
  "ldm %[c], {r0, r2, r4, r6, r8-r11}\n" \
  "ldr lr, [%[c], #64]\n"                \
  "dlstp.8 lr, lr\n"                     \
  "1:\n"                                 \
  "vldrb.8 q0, [%[x]], #16\n"            \
  "vldrb.8 q1, [r8], #16\n"              \
  "vmladava.s8 r0, q0, q1\n"             \
  "vldrb.8 q2, [r9], #16\n"              \
  "vmladava.s8 r2, q0, q2\n"             \
  "vldrb.8 q1, [r10], #16\n"             \
  "vmladava.s8 r4, q0, q1\n"             \
  "vldrb.8 q2, [r11], #16\n"             \
  "vmladava.s8 r6, q0, q2\n"             \
  "letp lr, 1b\n"

/* The results of n pixels, and the bits of those within the bounds. x: the taps of the pixels, one
   after another. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_marked(int8_t* y, const int8_t* x,
                                                          quantized_helium_block* c, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "vldrw.32 q4, [%[c], #32]\n"
      "vldrw.32 q5, [%[c], #48]\n"
      "ldr r0, [%[c], #68]\n"
      "vdup.32 q6, r0\n"
      "vmov.i32 q3, #128\n"
      "vmov.i32 q7, #255\n"
      "2:\n" QUANTIZED_HELIUM_DOTS QUANTIZED_HELIUM_RESULTS
      "ldrd r4, r8, [%[c], #96]\n"
      "vldrw.32 q2, [%[c], #80]\n"
      "ldrd r2, r9, [%[c], #72]\n"
      "vadd.i32 q0, q0, q3\n"
      "ldrb r6, [r4]\n"
      "vpt.u32 cs, q7, q0\n"
      "vaddvt.u32 r0, q2\n"
      "orr r6, r6, r0\n"
      "strb r6, [r4]\n"
      "add r4, r4, r8\n"
      "str r4, [%[c], #96]\n"
      "sub %[x], %[x], r2\n"
      "add %[y], %[y], r9\n"
      "subs %[n], %[n], #1\n"
      "bne 2b\n"
      : [y] "+l"(y), [x] "+r"(x), [n] "+r"(n)
      : [c] "r"(c)
      : "lr", "r0", "r2", "r4", "r6", "r8", "r9", "r10", "r11", "q0", "q1", "q2", "q3", "q4", "q5",
        "q6", "q7", "cc", "memory");
#else
  for (; n > 0; --n, x += c->taps, y += c->step, c->bits += c->bits_step) {
    for (int j = 0; j < 4; ++j) {
      int32_t sum = c->start[j], v;
      for (int i = 0; i < c->taps; ++i) sum += x[i] * c->w[j][i];
      sum = quantized_saturate((int64_t)sum + c->bias[j]);
      v = quantized_nearest((float)sum * c->scale[j]) + c->zero;
      y[j] = (int8_t)quantized_dsp_byte(v);
      quantized_dsp_mark(c->bits, (int)c->marks[j], (uint32_t)v + 128U < 256U);
    }
  }
#endif
}

/* The results alone. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_dots(int8_t* y, const int8_t* x,
                                                        const quantized_helium_block* c, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "vldrw.32 q4, [%[c], #32]\n"
      "vldrw.32 q5, [%[c], #48]\n"
      "ldr r0, [%[c], #68]\n"
      "vdup.32 q6, r0\n"
      "2:\n" QUANTIZED_HELIUM_DOTS QUANTIZED_HELIUM_RESULTS
      "ldrd r0, r2, [%[c], #72]\n"
      "sub %[x], %[x], r0\n"
      "add %[y], %[y], r2\n"
      "subs %[n], %[n], #1\n"
      "bne 2b\n"
      : [y] "+l"(y), [x] "+r"(x), [n] "+r"(n)
      : [c] "r"(c)
      : "lr", "r0", "r2", "r4", "r6", "r8", "r9", "r10", "r11", "q0", "q1", "q2", "q4", "q5", "q6",
        "cc", "memory");
#else
  for (; n > 0; --n, x += c->taps, y += c->step) {
    for (int j = 0; j < 4; ++j) {
      int32_t sum = c->start[j];
      for (int i = 0; i < c->taps; ++i) sum += x[i] * c->w[j][i];
      sum = quantized_saturate((int64_t)sum + c->bias[j]);
      sum = quantized_nearest((float)sum * c->scale[j]) + c->zero;
      y[j] = (int8_t)quantized_dsp_byte(sum);
    }
  }
#endif
}

/* The same for up to sixteen taps, where nothing saturates: weights stay in vectors. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_few(int8_t* y, const int8_t* x,
                                                       const quantized_helium_block* c, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "ldr r0, [%[c], #64]\n"
      "vctp.8 r0\n"
      "ldm %[c], {r0, r2, r4, r6, r8-r11}\n"
      "vmov d12, r0, r2\n"
      "vmov d13, r4, r6\n"
      "vldrw.32 q4, [%[c], #32]\n"
      "vadd.i32 q4, q4, q6\n"
      "vldrw.32 q5, [%[c], #48]\n"
      "vpstttt\n"
      "vldrbt.8 q0, [r8]\n"
      "vldrbt.8 q1, [r9]\n"
      "vldrbt.8 q2, [r10]\n"
      "vldrbt.8 q3, [r11]\n"
      "ldrd r8, r9, [%[c], #64]\n"
      "ldr r10, [%[c], #76]\n"
      "dls lr, %[n]\n"
      "2:\n"
      "vpst\n"
      "vldrbt.8 q6, [%[x]]\n"
      "add %[x], %[x], r8\n"
      "vmladav.s8 r0, q0, q6\n"
      "vmladav.s8 r2, q1, q6\n"
      "vmladav.s8 r4, q2, q6\n"
      "vmladav.s8 r6, q3, q6\n"
      "vmov d12, r0, r2\n"
      "vmov d13, r4, r6\n"
      "vadd.i32 q6, q6, q4\n"
      "vcvt.f32.s32 q6, q6\n"
      "vmul.f32 q6, q6, q5\n"
      "vcvtn.s32.f32 q6, q6\n"
      "vqadd.s32 q6, q6, r9\n"
      "vqmovnb.s32 q6, q6\n"
      "vqmovnb.s16 q6, q6\n"
      "vstrb.32 q6, [%[y]]\n"
      "add %[y], %[y], r10\n"
      "le lr, 2b\n"
      : [y] "+l"(y), [x] "+r"(x)
      : [c] "r"(c), [n] "r"(n)
      : "lr", "r0", "r2", "r4", "r6", "r8", "r9", "r10", "r11", "q0", "q1", "q2", "q3", "q4", "q5",
        "q6", "cc", "memory");
#else
  quantized_helium_dots(y, x, c, n);
#endif
}

/* All channels of n pixels, from number `at` on. x: the taps of the pixels, one after another. */
static void quantized_helium_pixels(const quantized_micro_out* to, ptrdiff_t at, const int8_t* x,
                                    int n, const int8_t* w, const int32_t* bias,
                                    const quantized_conv2d_dims* dims,
                                    const quantized_factor* factors) {
  const int channels = dims->conv.k;
  const int taps = dims->conv.r * dims->conv.s * dims->conv.c;
  const int is_few = taps <= 16 && !to->bits;
  int8_t none[4];
  int8_t* y = to->y ? to->y + at : none;
  quantized_helium_block c;
  c.taps = taps;
  c.zero = to->result->zero_point;
  c.back = -taps & 15;
  c.step = to->y ? channels : 0;
  c.bits_step = channels / 8;
  for (int k = 0; k < channels; k += 4, factors += 4) {
    int is_small = is_few;
    for (int j = 0; j < 4; ++j, w += taps) {
      c.w[j] = w;
      c.scale[j] = factors[j].scale;
    }
    memset(c.bias, 0, sizeof c.bias);
    if (bias) memcpy(c.bias, bias + k, sizeof c.bias);
    for (int j = 0; j < 4 && is_small; ++j) {
      is_small = (uint32_t)c.bias[j] + 0x40000000U < 0x80000000U;
    }
    quantized_helium_starts(&c, dims->input_zero_point);
    if (is_small) {
      quantized_helium_few(y, x, &c, n);
    } else if (to->bits) {
      c.bits = to->bits + (at + k) / 8;
      for (int j = 0; j < 4; ++j) c.marks[j] = 1U << ((k & 7) + j);
      quantized_helium_marked(y, x, &c, n);
    } else {
      quantized_helium_dots(y, x, &c, n);
    }
    if (to->y) y += 4;
  }
}
/* Bytes of windows that are copied side by side. */
#define QUANTIZED_HELIUM_BYTES 2560

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

/* n bytes, sixteen at most, of each of `count` windows, `step` and `next` bytes apart. */
static inline void quantized_helium_side_by_side(int8_t* to, const int8_t* from, int n, int count,
                                                 int step, int next) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "vctp.8 %[n]\n"
      "dls lr, %[count]\n"
      "1:\n"
      "vpstt\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vstrbt.8 q0, [%[to]]\n"
      "add %[from], %[from], %[next]\n"
      "add %[to], %[to], %[step]\n"
      "le lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [n] "r"(n), [count] "r"(count), [step] "r"(step), [next] "r"(next)
      : "lr", "q0", "cc", "memory");
#else
  for (; count > 0; --count, to += step, from += next) memcpy(to, from, (size_t)n);
#endif
}

/* The windows of `count` pixels from (p, q) on, one after another. */
static void quantized_helium_all_windows(int8_t* to, const int8_t* x, int rows,
                                         const quantized_conv2d_dims* dims, int p, int q,
                                         int count) {
  const conv_dims* d = &dims->conv;
  const int line = d->s * d->c;
  const int taps = d->r * line;
  const int top = p * d->stride_h - d->pad_top;
  const int last = q + count;
  /* Windows [begin, end) lie within the image. */
  int begin = (d->pad_left + d->stride_w - 1) / d->stride_w;
  int end = d->w + d->pad_left < d->s ? 0 : (d->w + d->pad_left - d->s) / d->stride_w + 1;
  if (begin < q) begin = q;
  if (end > last) end = last;
  if (line > 16 || top < 0 || top + d->r > d->h || begin >= end) begin = end = last;
  for (int r = 0; r < d->r && begin < end; ++r) {
    const int8_t* const row = x + (ptrdiff_t)((top + r) % rows) * d->w * d->c;
    quantized_helium_side_by_side(to + (begin - q) * taps + r * line,
                                  row + (begin * d->stride_w - d->pad_left) * d->c, line,
                                  end - begin, taps, d->stride_w * d->c);
  }
  for (int j = q; j < last; ++j, to += taps) {
    if (j < begin || j >= end) quantized_helium_window(to, x, rows, dims, p, j);
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
  const int most = d->q < room ? d->q : room;
  int8_t windows[QUANTIZED_HELIUM_BYTES];
  for (; p < last; ++p, at += (ptrdiff_t)d->q * d->k) {
    for (int q = 0; q < d->q; q += most) {
      const int n = d->q - q < most ? d->q - q : most;
      quantized_helium_all_windows(windows, x, rows, dims, p, q, n);
      quantized_helium_pixels(out, at + (ptrdiff_t)q * d->k, windows, n, w, bias, dims, factors);
    }
  }
}
