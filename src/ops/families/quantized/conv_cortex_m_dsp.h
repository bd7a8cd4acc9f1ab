/* Parts of conv_micro.h in instructions of the DSP extension (Cortex-M4, M7 and later), for the
   target cortex-m-dsp: two products of 16 bits at a time. Results are the same. On other processors
   they are computed in plain C99, for tests. Source: Arm, "ARMv7-M Architecture Reference Manual".
 */
#include "ops/families/quantized/conv_micro_dims.h"
#include "ops/families/quantized/words_cortex_m_dsp.h"

/* Of functions that have registers to themselves. */
#define QUANTIZED_DSP_ALONE __attribute__((noinline))

/* In the place of the function of conv_micro.h. */
static inline int8_t quantized_micro_clamped(int32_t v) { return (int8_t)quantized_dsp_byte(v); }

/* Most taps of windows whose bytes are copied before they are extended. */
#define QUANTIZED_DSP_BYTES 64

/* to[0..n) = from[0..n). */
static inline void quantized_dsp_copy(int8_t* to, const int8_t* from, int n) {
  for (; n >= 4; n -= 4, to += 4, from += 4) memcpy(to, from, 4);
  while (n-- > 0) *to++ = *from++;
}

/* The bytes of the window of pixel (p, q), dilation 1; those outside of the image are the zero
   point. */
static void quantized_dsp_bytes(int8_t* to, const int8_t* x, int rows,
                                const quantized_conv2d_dims* dims, int p, int q) {
  const conv_dims* d = &dims->conv;
  const int left = q * d->stride_w - d->pad_left;
  const int first = left < 0 ? (-left < d->s ? -left : d->s) : 0;
  const int inside = d->w - left;
  const int last = inside < first ? first : inside < d->s ? inside : d->s;
  for (int r = 0; r < d->r; ++r, to += d->s * d->c) {
    const int row = p * d->stride_h - d->pad_top + r;
    const int is_inside = row >= 0 && row < d->h;
    if (!is_inside || first > 0 || last < d->s) {
      memset(to, dims->input_zero_point, (size_t)(d->s * d->c));
    }
    if (!is_inside) continue;
    quantized_dsp_copy(to + first * d->c,
                       x + ((ptrdiff_t)(row % rows) * d->w + left + first) * d->c,
                       (last - first) * d->c);
  }
}

/* Extends n bytes, a multiple of four, to cells of one pixel; less: see quantized_micro_fill. */
static inline int16_t* quantized_dsp_extend(int16_t* to, const int8_t* from, int n, uint32_t less) {
  const int8_t* const end = from + n;
  while (from != end) {
    const uint32_t word = quantized_dsp_word(from);
    const uint32_t two[2] = {quantized_dsp_even(less, word), quantized_dsp_odd(less, word)};
    memcpy(to, two, sizeof two);
    from += 4;
    to += 4 * QUANTIZED_MICRO_PIXELS;
  }
  return to;
}

/* Cells in blocks of four taps: of each pixel taps 0 and 2 and then 1 and 3, as bytes are extended.
   The last block is filled with 0. */
static void quantized_micro_fill(int16_t* cells, const int8_t* x, int rows,
                                 const quantized_conv2d_dims* dims, int p, int q, int count) {
  const conv_dims* d = &dims->conv;
  const int zero = dims->input_zero_point;
  const uint32_t less = ((uint32_t)-zero & 0xffffU) | (uint32_t)-zero << 16;
  const int channels = d->c;
  const int by_words = channels % 4 == 0;
  const int taps = d->r * d->s * channels;
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    int16_t* to = cells + 4 * j;
    int t = 0;
    if (!by_words && d->dilation_h == 1 && d->dilation_w == 1 && taps <= QUANTIZED_DSP_BYTES &&
        j < count) {
      int8_t bytes[QUANTIZED_DSP_BYTES];
      quantized_dsp_bytes(bytes, x, rows, dims, p, q + j);
      for (t = taps; t % 4 != 0; ++t) bytes[t] = (int8_t)zero;
      quantized_dsp_extend(to, bytes, (taps + 3) & ~3, less);
      continue;
    }
    for (int r = 0; r < d->r; ++r) {
      const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
      for (int s = 0; s < d->s; ++s) {
        const int column = (q + j) * d->stride_w - d->pad_left + s * d->dilation_w;
        const int is_outside = j >= count || row < 0 || row >= d->h || column < 0 || column >= d->w;
        const int8_t* from =
            is_outside ? NULL : x + ((ptrdiff_t)(row % rows) * d->w + column) * channels;
        if (by_words && !is_outside) {
          to = quantized_dsp_extend(to, from, channels, less);
          t += channels;
          continue;
        }
        for (int c = 0; c < channels; ++c, ++t) {
          const int16_t cell = (int16_t)(is_outside ? 0 : from[c] - zero);
          to[(t & 1) * 2 + (t >> 1 & 1)] = cell;
          if (t % 4 == 3) to += 4 * QUANTIZED_MICRO_PIXELS;
        }
      }
    }
    for (; t % 4 != 0; ++t) to[(t & 1) * 2 + (t >> 1 & 1)] = 0;
  }
}

/* Of four weights, for four pixels; and as long as there are any. */
#define QUANTIZED_DSP_FOUR            \
  "ldr %[even], [%[w]], #4\n"         \
  "ldmia %[x]!, {r4, r5, r6, r8}\n"   \
  "sxtb16 %[odd], %[even], ror #8\n"  \
  "sxtb16 %[even], %[even]\n"         \
  "smlad %[s0], r4, %[even], %[s0]\n" \
  "smlad %[s1], r6, %[even], %[s1]\n" \
  "smlad %[s0], r5, %[odd], %[s0]\n"  \
  "smlad %[s1], r8, %[odd], %[s1]\n"  \
  "ldmia %[x]!, {r4, r5, r6, r8}\n"   \
  "smlad %[s2], r4, %[even], %[s2]\n" \
  "smlad %[s3], r6, %[even], %[s3]\n" \
  "smlad %[s2], r5, %[odd], %[s2]\n"  \
  "smlad %[s3], r8, %[odd], %[s3]\n"
#define QUANTIZED_DSP_LOOP(body, last)                                                   \
  __asm__ volatile("1:\n" body                                                           \
                   "cmp %[w], %[end]\n"                                                  \
                   "bne 1b\n"                                                            \
                   : [w] "+r"(w), [x] "+r"(cells), [even] "=&r"(even), [odd] "=&r"(odd), \
                     [s0] "+r"(s0), [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3)          \
                   : [end] "r"(last)                                                     \
                   : "r4", "r5", "r6", "r8", "cc", "memory")

/* sums[j] += of pixel j by n weights of a channel, a multiple of four. cells: aligned to four
   bytes. */
static inline void quantized_dsp_sums(int32_t* sums, const int16_t* cells, const int8_t* w, int n) {
  const int8_t* const end = w + n;
  int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
#if defined(__ARM_FEATURE_DSP)
  const int8_t* const by_eight = w + (n & ~7);
  uint32_t even, odd;
  if (w != by_eight) QUANTIZED_DSP_LOOP(QUANTIZED_DSP_FOUR QUANTIZED_DSP_FOUR, by_eight);
  if (w != end) QUANTIZED_DSP_LOOP(QUANTIZED_DSP_FOUR, end);
#else
  for (; w != end; w += 4, cells += 4 * QUANTIZED_MICRO_PIXELS) {
    const uint32_t word = quantized_dsp_word(w);
    const uint32_t even = quantized_dsp_even_of(word);
    const uint32_t odd = quantized_dsp_odd_of(word);
    s0 = quantized_dsp_products(quantized_dsp_word(cells), even, s0);
    s0 = quantized_dsp_products(quantized_dsp_word(cells + 2), odd, s0);
    s1 = quantized_dsp_products(quantized_dsp_word(cells + 4), even, s1);
    s1 = quantized_dsp_products(quantized_dsp_word(cells + 6), odd, s1);
    s2 = quantized_dsp_products(quantized_dsp_word(cells + 8), even, s2);
    s2 = quantized_dsp_products(quantized_dsp_word(cells + 10), odd, s2);
    s3 = quantized_dsp_products(quantized_dsp_word(cells + 12), even, s3);
    s3 = quantized_dsp_products(quantized_dsp_word(cells + 14), odd, s3);
  }
#endif
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

/* The same where n is a multiple of eight, and not 0. */
static inline void quantized_dsp_sums_of_eights(int32_t* sums, const int16_t* cells,
                                                const int8_t* w, int n) {
#if defined(__ARM_FEATURE_DSP)
  const int8_t* const end = w + n;
  int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  uint32_t even, odd;
  QUANTIZED_DSP_LOOP(QUANTIZED_DSP_FOUR QUANTIZED_DSP_FOUR, end);
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
#else
  quantized_dsp_sums(sums, cells, w, n);
#endif
}

/* The same of weights [first, taps) of the last block. */
static QUANTIZED_DSP_ALONE void quantized_dsp_rest(int32_t* sums, const int16_t* cells,
                                                   const int8_t* w, int first, int taps) {
  cells += QUANTIZED_MICRO_PIXELS * first;
  for (int t = first; t < taps; ++t) {
    const int16_t* const cell = cells + (t & 1) * 2 + (t >> 1 & 1);
    sums[0] += cell[0] * w[t];
    sums[1] += cell[4] * w[t];
    sums[2] += cell[8] * w[t];
    sums[3] += cell[12] * w[t];
  }
}

/* Adds a bit to a mask. */
static inline void quantized_dsp_mark(uint8_t* bits, int bit, int is_set) {
  if (is_set) *bits |= (uint8_t)bit;
}

#define QUANTIZED_DSP
#include "ops/families/quantized/conv_micro.h"

/* Four sums of a channel, without bias, become results that are not clamped yet. */
static inline void quantized_dsp_levels(int32_t* v, int32_t bias, float scale, int32_t zero) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  int32_t v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
  __asm__(
      "qadd %[v0], %[v0], %[bias]\n"
      "qadd %[v1], %[v1], %[bias]\n"
      "qadd %[v2], %[v2], %[bias]\n"
      "qadd %[v3], %[v3], %[bias]\n"
      "vmov s12, s13, %[v0], %[v1]\n"
      "vmov s14, s15, %[v2], %[v3]\n"
      "vcvt.f32.s32 s12, s12\n"
      "vcvt.f32.s32 s13, s13\n"
      "vcvt.f32.s32 s14, s14\n"
      "vcvt.f32.s32 s15, s15\n"
      "vmul.f32 s12, s12, %[scale]\n"
      "vmul.f32 s13, s13, %[scale]\n"
      "vmul.f32 s14, s14, %[scale]\n"
      "vmul.f32 s15, s15, %[scale]\n"
      "vcvtr.s32.f32 s12, s12\n"
      "vcvtr.s32.f32 s13, s13\n"
      "vcvtr.s32.f32 s14, s14\n"
      "vcvtr.s32.f32 s15, s15\n"
      "vmov %[v0], %[v1], s12, s13\n"
      "vmov %[v2], %[v3], s14, s15\n"
      "qadd %[v0], %[v0], %[zero]\n"
      "qadd %[v1], %[v1], %[zero]\n"
      "qadd %[v2], %[v2], %[zero]\n"
      "qadd %[v3], %[v3], %[zero]\n"
      : [v0] "+r"(v0), [v1] "+r"(v1), [v2] "+r"(v2), [v3] "+r"(v3)
      : [bias] "r"(bias), [scale] "t"(scale), [zero] "r"(zero)
      : "s12", "s13", "s14", "s15");
  v[0] = v0;
  v[1] = v1;
  v[2] = v2;
  v[3] = v3;
#else
  for (int j = 0; j < 4; ++j) {
    const int32_t sum = quantized_saturate((int64_t)v[j] + bias);
    v[j] = quantized_nearest((float)sum * scale) + zero;
  }
#endif
}

/* The bits of four results, from number `at` on: whether they lay within the bounds. */
static QUANTIZED_DSP_ALONE void quantized_dsp_bits(uint8_t* bits, ptrdiff_t at, ptrdiff_t step,
                                                   int32_t v0, int32_t v1, int32_t v2, int32_t v3) {
  const int32_t v[4] = {v0, v1, v2, v3};
  if (step % 8 == 0) {
    const int bit = 1 << (at & 7);
    const ptrdiff_t bytes = step >> 3;
    bits += (size_t)at >> 3;
    quantized_dsp_mark(bits, bit, (uint32_t)v0 + 128U < 256U);
    quantized_dsp_mark(bits += bytes, bit, (uint32_t)v1 + 128U < 256U);
    quantized_dsp_mark(bits += bytes, bit, (uint32_t)v2 + 128U < 256U);
    quantized_dsp_mark(bits += bytes, bit, (uint32_t)v3 + 128U < 256U);
    return;
  }
  for (int j = 0; j < 4; ++j, at += step) {
    quantized_dsp_mark(bits + at / 8, 1 << (at % 8), (uint32_t)v[j] + 128U < 256U);
  }
}

/* Four results of one channel before they are clamped, from number `at` on; to->is_plain. */
static inline void quantized_dsp_put(const quantized_micro_out* to, ptrdiff_t at, ptrdiff_t step,
                                     const int32_t* v) {
  if (to->y) {
    int8_t* y = to->y + at;
    y[0] = (int8_t)quantized_dsp_byte(v[0]);
    y[step] = (int8_t)quantized_dsp_byte(v[1]);
    y += 2 * step;
    y[0] = (int8_t)quantized_dsp_byte(v[2]);
    y[step] = (int8_t)quantized_dsp_byte(v[3]);
  }
  if (to->bits) quantized_dsp_bits(to->bits, at, step, v[0], v[1], v[2], v[3]);
}

/* All channels of four pixels, from number `at` on; to->is_plain, taps: a multiple of eight. */
static QUANTIZED_DSP_ALONE void quantized_dsp_eights(const quantized_micro_out* to, ptrdiff_t at,
                                                     const int16_t* cells, const int8_t* w,
                                                     const int32_t* bias,
                                                     const quantized_factor* factors, int channels,
                                                     int taps) {
  const int8_t* const last = w + channels * taps;
  while (w != last) {
    const int32_t start = bias ? *bias++ : 0;
    int32_t v[QUANTIZED_MICRO_PIXELS] = {0, 0, 0, 0};
    quantized_dsp_sums_of_eights(v, cells, w, taps);
    w += taps;
    quantized_dsp_levels(v, start, factors->scale, to->result->zero_point);
    ++factors;
    quantized_dsp_put(to, at++, channels, v);
  }
}

/* All channels of four pixels, from number `at` on; to->is_plain. */
static QUANTIZED_DSP_ALONE void quantized_dsp_plain(const quantized_micro_out* to, ptrdiff_t at,
                                                    const int16_t* cells, const int8_t* w,
                                                    const int32_t* bias,
                                                    const quantized_factor* factors, int channels,
                                                    int taps) {
  const quantized_factor* const last = factors + channels - 1;
  for (; factors <= last; ++factors, ++at, w += taps) {
    /* Weights of the next channel are multiplied by 0. */
    const int n = factors == last ? taps & ~3 : (taps + 3) & ~3;
    int32_t v[QUANTIZED_MICRO_PIXELS] = {0, 0, 0, 0};
    quantized_dsp_sums(v, cells, w, n);
    if (n < taps) {
      int32_t more[QUANTIZED_MICRO_PIXELS] = {0, 0, 0, 0};
      quantized_dsp_rest(more, cells, w, n, taps);
      v[0] += more[0];
      v[1] += more[1];
      v[2] += more[2];
      v[3] += more[3];
    }
    quantized_dsp_levels(v, bias ? *bias++ : 0, factors->scale, to->result->zero_point);
    quantized_dsp_put(to, at, channels, v);
  }
}

/* All channels of `count` pixels, from number `at` on; in the place of the function of
   conv_micro.h. */
static void quantized_micro_channels(const quantized_micro_out* to, ptrdiff_t at,
                                     const int16_t* cells, const int8_t* w, const int32_t* bias,
                                     const quantized_factor* factors, int channels, int taps,
                                     int count) {
  if (to->is_plain && count == QUANTIZED_MICRO_PIXELS) {
    if (taps % 8 == 0) {
      quantized_dsp_eights(to, at, cells, w, bias, factors, channels, taps);
    } else {
      quantized_dsp_plain(to, at, cells, w, bias, factors, channels, taps);
    }
    return;
  }
  for (int k = 0; k < channels; ++k, w += taps) {
    int32_t sums[QUANTIZED_MICRO_PIXELS] = {0, 0, 0, 0};
    quantized_dsp_sums(sums, cells, w, taps & ~3);
    quantized_dsp_rest(sums, cells, w, taps & ~3, taps);
    quantized_micro_finish(to, at + k, channels, sums, count, bias ? bias[k] : 0, &factors[k]);
  }
}

/* A channel of several tiles of four pixels. */
typedef struct quantized_dsp_tiles {
  const uint32_t* w;  /* weights, as cells are */
  const int16_t* end; /* of the cells */
  int32_t bias, zero;
  int8_t* y;
  int32_t step; /* from the result of a pixel to that of the next */
  float scale;
} quantized_dsp_tiles;

/* Four sums become four results, which are stored. s16 to s19: bias, zero point, y and step. */
#define QUANTIZED_DSP_RESULTS     \
  "vmov r4, r5, s16, s17\n"       \
  "qadd %[s0], %[s0], r4\n"       \
  "qadd %[s1], %[s1], r4\n"       \
  "qadd %[s2], %[s2], r4\n"       \
  "qadd %[s3], %[s3], r4\n"       \
  "vmov s12, s13, %[s0], %[s1]\n" \
  "vmov s14, s15, %[s2], %[s3]\n" \
  "vcvt.f32.s32 s12, s12\n"       \
  "vcvt.f32.s32 s13, s13\n"       \
  "vcvt.f32.s32 s14, s14\n"       \
  "vcvt.f32.s32 s15, s15\n"       \
  "vmul.f32 s12, s12, s20\n"      \
  "vmul.f32 s13, s13, s20\n"      \
  "vmul.f32 s14, s14, s20\n"      \
  "vmul.f32 s15, s15, s20\n"      \
  "vcvtr.s32.f32 s12, s12\n"      \
  "vcvtr.s32.f32 s13, s13\n"      \
  "vcvtr.s32.f32 s14, s14\n"      \
  "vcvtr.s32.f32 s15, s15\n"      \
  "vmov %[s0], %[s1], s12, s13\n" \
  "vmov %[s2], %[s3], s14, s15\n" \
  "qadd %[s0], %[s0], r5\n"       \
  "qadd %[s1], %[s1], r5\n"       \
  "qadd %[s2], %[s2], r5\n"       \
  "qadd %[s3], %[s3], r5\n"       \
  "vmov r4, r5, s18, s19\n"       \
  "ssat %[s0], #8, %[s0]\n"       \
  "strb %[s0], [r4]\n"            \
  "ssat %[s1], #8, %[s1]\n"       \
  "strb %[s1], [r4, r5]\n"        \
  "add %[s0], r4, r5, lsl #1\n"   \
  "ssat %[s2], #8, %[s2]\n"       \
  "strb %[s2], [%[s0]]\n"         \
  "ssat %[s3], #8, %[s3]\n"       \
  "strb %[s3], [%[s0], r5]\n"     \
  "add r4, r4, r5, lsl #2\n"      \
  "vmov s18, r4\n"
#define QUANTIZED_DSP_WIDE_FOUR       \
  "ldmia %[w]!, {%[even], %[odd]}\n"  \
  "ldmia %[x]!, {r4, r5, r6, r8}\n"   \
  "smlad %[s0], r4, %[even], %[s0]\n" \
  "smlad %[s1], r6, %[even], %[s1]\n" \
  "smlad %[s0], r5, %[odd], %[s0]\n"  \
  "smlad %[s1], r8, %[odd], %[s1]\n"  \
  "ldmia %[x]!, {r4, r5, r6, r8}\n"   \
  "smlad %[s2], r4, %[even], %[s2]\n" \
  "smlad %[s3], r6, %[even], %[s3]\n" \
  "smlad %[s2], r5, %[odd], %[s2]\n"  \
  "smlad %[s3], r8, %[odd], %[s3]\n"
#define QUANTIZED_DSP_WIDE(body)                                                               \
  __asm__ volatile(                                                                            \
      "add r4, %[c], #8\n"                                                                     \
      "vldmia r4, {s16-s20}\n"                                                                 \
      "2:\n"                                                                                   \
      "ldr %[w], [%[c]]\n"                                                                     \
      "mov %[s0], #0\nmov %[s1], #0\nmov %[s2], #0\nmov %[s3], #0\n"                           \
      "1:\n" body                                                                              \
      "cmp %[w], %[end]\n"                                                                     \
      "bne 1b\n" QUANTIZED_DSP_RESULTS                                                         \
      "ldr r4, [%[c], #4]\n"                                                                   \
      "cmp %[x], r4\n"                                                                         \
      "bne 2b\n"                                                                               \
      : [x] "+r"(x), [w] "=&r"(w), [even] "=&r"(even), [odd] "=&r"(odd), [s0] "=&r"(s0),       \
        [s1] "=&r"(s1), [s2] "=&r"(s2), [s3] "=&r"(s3)                                         \
      : [end] "r"(end), [c] "r"(c)                                                             \
      : "r4", "r5", "r6", "r8", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", \
        "cc", "memory")

/* Computes it. x: the cells of the first tile; blocks: of four taps. */
static QUANTIZED_DSP_ALONE void quantized_dsp_wide(const quantized_dsp_tiles* c, const int16_t* x,
                                                   int blocks) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  const uint32_t* const end = c->w + 2 * blocks;
  const uint32_t* w;
  int32_t s0, s1, s2, s3;
  uint32_t even, odd;
  if (blocks % 2 == 0) {
    QUANTIZED_DSP_WIDE(QUANTIZED_DSP_WIDE_FOUR QUANTIZED_DSP_WIDE_FOUR);
  } else {
    QUANTIZED_DSP_WIDE(QUANTIZED_DSP_WIDE_FOUR);
  }
#else
  for (int8_t* y = c->y; x != c->end; y += QUANTIZED_MICRO_PIXELS * c->step) {
    int32_t v[QUANTIZED_MICRO_PIXELS] = {0, 0, 0, 0};
    for (int i = 0; i < blocks; ++i, x += 4 * QUANTIZED_MICRO_PIXELS) {
      for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
        v[j] = quantized_dsp_products(quantized_dsp_word(x + 4 * j), c->w[2 * i], v[j]);
        v[j] = quantized_dsp_products(quantized_dsp_word(x + 4 * j + 2), c->w[2 * i + 1], v[j]);
      }
    }
    quantized_dsp_levels(v, c->bias, c->scale, c->zero);
    for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
      y[j * c->step] = (int8_t)quantized_dsp_byte(v[j]);
    }
  }
#endif
}

/* Most taps of weights that are extended, for tiles that come one after another. */
#define QUANTIZED_DSP_WIDE_TAPS 320

/* One row of results where all channels are read, from number `at` on; in the place of the function
   of conv_micro.h. */
static void quantized_micro_dense_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                      int rows, const int8_t* w, const int32_t* bias,
                                      const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p) {
  const int channels = dims->conv.k;
  const int width = dims->conv.q;
  const int taps = dims->conv.r * dims->conv.s * dims->conv.c;
  const int blocks = (taps + 3) / 4;
  const int tile = 4 * QUANTIZED_MICRO_PIXELS * blocks; /* cells of one */
  union {
    int16_t cells[QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS];
    int32_t aligned;
  } windows;
  const int most = (int)(sizeof windows.cells / sizeof *windows.cells) / tile;
  const int is_wide = out->is_plain && out->y && !out->bits && taps <= QUANTIZED_DSP_WIDE_TAPS &&
                      width >= 4 * QUANTIZED_MICRO_PIXELS;
  for (int q = 0; q < width;) {
    const int left = (width - q) / QUANTIZED_MICRO_PIXELS; /* whole tiles */
    const int count = width - q < QUANTIZED_MICRO_PIXELS ? width - q : QUANTIZED_MICRO_PIXELS;
    const int n = !is_wide || left < 1 ? 1 : left < most ? left : most;
    for (int i = 0; i < n; ++i) {
      quantized_micro_fill(windows.cells + i * tile, x, rows, dims, p,
                           q + QUANTIZED_MICRO_PIXELS * i, count);
    }
    if (is_wide && left > 0) {
      uint32_t extended[QUANTIZED_DSP_WIDE_TAPS / 2];
      quantized_dsp_tiles c = {
          extended, windows.cells + n * tile, 0, out->result->zero_point, NULL, channels, 0};
      for (int k = 0; k < channels; ++k) {
        quantized_dsp_widen(extended, w + (ptrdiff_t)k * taps, taps);
        c.bias = bias ? bias[k] : 0;
        c.scale = factors[k].scale;
        c.y = out->y + at + k;
        quantized_dsp_wide(&c, windows.cells, blocks);
      }
    } else {
      quantized_micro_channels(out, at, windows.cells, w, bias, factors, channels, taps, count);
    }
    q += n * QUANTIZED_MICRO_PIXELS;
    at += (ptrdiff_t)n * QUANTIZED_MICRO_PIXELS * channels;
  }
}
