/* Parts of conv_micro.h in instructions of the DSP extension (Cortex-M4, M7 and later), for the
   target cortex-m-dsp: two products of 16 bits at a time. Results are the same. On other processors
   they are computed in plain C99, for tests. Source: Arm, "ARMv7-M Architecture Reference Manual".
 */
#include "ops/families/quantized/four_cortex_m_dsp.h"

/* In the place of the function of conv_micro.h. */
static inline int8_t quantized_micro_clamped(int32_t v) { return (int8_t)quantized_dsp_byte(v); }

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

/* Taps of windows that are extended for many pixels: the weights of four channels and at least
   eight windows fit the memory of quantized_micro_dense_row. */
#define QUANTIZED_DSP_FOUR_TAPS 212

/* Whether halves that are rounded to even stay even with the zero point. */
static inline int quantized_dsp_is_even(const quantized_micro_out* out) {
  return out->is_plain && out->y && out->result->zero_point % 2 == 0;
}

/* The results of four channels, whatever they are, from number `at` on. blocks: of four taps. */
static void quantized_dsp_any_four(const quantized_micro_out* out, ptrdiff_t at,
                                   const quantized_dsp_group* g, const int32_t* bias,
                                   const quantized_factor* factors, int channels, int blocks) {
  for (const uint32_t* x = g->x; x != g->x_end; x += 2 * blocks, at += channels) {
    for (int c = 0; c < 4; ++c) {
      int32_t sum = 0;
      for (int i = 0; i < 2 * blocks; ++i) {
        sum = quantized_dsp_products(x[i], g->w[4 * i + c], sum);
      }
      quantized_micro_finish(out, at + c, 1, &sum, 1, bias ? bias[c] : 0, &factors[c]);
    }
  }
}

/* Whether rows of these results are computed so. */
static int quantized_dsp_takes_four(const quantized_micro_out* out, ptrdiff_t at,
                                    const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const int taps = d->r * d->s * d->c;
  const int fits = d->k % 4 == 0 && (!out->bits || (d->k % 8 == 0 && at % 8 == 0));
  return fits && quantized_dsp_is_even(out) && taps > 4 && taps <= QUANTIZED_DSP_FOUR_TAPS;
}

/* One row of results, from number `at` on. memory: QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS
   halves. */
static void quantized_dsp_four_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                   int rows, const int8_t* w, const int32_t* bias,
                                   const quantized_conv2d_dims* dims,
                                   const quantized_factor* factors, int p, uint32_t* memory) {
  const conv_dims* d = &dims->conv;
  const int channels = d->k;
  const int taps = d->r * d->s * d->c;
  const int blocks = (taps + 3) / 4;
  const int words = QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS / 2 - 8 * blocks;
  const int rounds = (d->q - 1) / (words / (2 * blocks)) + 1;
  const int most = (d->q + rounds - 1) / rounds; /* pixels at a time */
  uint32_t* const cells = memory + 8 * blocks;
  quantized_dsp_group g;
  g.w = memory;
  g.w_end = cells;
  g.x = cells;
  g.y_step = channels;
  g.bits_step = channels / 8;
  g.skipped = (4 - (blocks / 2 - 1) % 4 - 1) * 84;
  g.has_half = blocks % 2;
  for (int q = 0; q < d->q; q += most) {
    const int count = d->q - q < most ? d->q - q : most;
    g.x_end = cells + 2 * blocks * count;
    quantized_dsp_cells((int16_t*)(void*)cells, x, rows, dims, p, q, count);
    for (int k = 0; k < channels; k += 4) {
      const int32_t* const start = bias ? bias + k : NULL;
      quantized_dsp_widen_four(memory, w + (ptrdiff_t)k * taps, taps);
      g.y = out->y + at + k;
      g.bits = out->bits ? out->bits + (at + k) / 8 : NULL;
      g.marks = 0x04080102U << (k & 4);
      if (quantized_dsp_takes_group(&g, start, factors + k, out->result->zero_point, taps) &&
          quantized_dsp_four(&g)) {
        continue;
      }
      quantized_dsp_any_four(out, at + k, &g, start, factors + k, channels, blocks);
    }
    at += (ptrdiff_t)count * channels;
  }
}

/* One row of results where all channels are read, from number `at` on; in the place of the function
   of conv_micro.h. */
static void quantized_micro_dense_row(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                      int rows, const int8_t* w, const int32_t* bias,
                                      const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p) {
  const int channels = dims->conv.k;
  const int width = dims->conv.q;
  const int taps = dims->conv.r * dims->conv.s * dims->conv.c;
  union {
    int16_t cells[QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS];
    uint32_t words[QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_TAPS / 2];
  } memory;
  if (quantized_dsp_takes_four(out, at, dims)) {
    quantized_dsp_four_row(out, at, x, rows, w, bias, dims, factors, p, memory.words);
    return;
  }
  for (int q = 0; q < width; q += QUANTIZED_MICRO_PIXELS, at += QUANTIZED_MICRO_PIXELS * channels) {
    const int count = width - q < QUANTIZED_MICRO_PIXELS ? width - q : QUANTIZED_MICRO_PIXELS;
    quantized_micro_fill(memory.cells, x, rows, dims, p, q, count);
    quantized_micro_channels(out, at, memory.cells, w, bias, factors, channels, taps, count);
  }
}
