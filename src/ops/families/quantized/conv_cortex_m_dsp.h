/* Parts of conv_micro.h in instructions of the DSP extension (Cortex-M4, M7 and later), for the
   target cortex-m-dsp: two products of 16 bits at a time. Results are the same. On other processors
   they are computed in plain C99, for tests. Source: Arm, "ARMv7-M Architecture Reference Manual".
 */
#include "ops/families/quantized/conv_micro_dims.h"

/* sum + the products of the lower and of the upper halves. */
static inline int32_t quantized_dsp_products(uint32_t a, uint32_t b, int32_t sum) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("smlad %0, %1, %2, %3" : "=r"(result) : "r"(a), "r"(b), "r"(sum));
  return result;
#else
  return sum + (int16_t)a * (int16_t)b + (int16_t)(a >> 16) * (int16_t)(b >> 16);
#endif
}

/* Bytes 0 and 2 of b, with signs, in two halves; each is added to that of a. */
static inline uint32_t quantized_dsp_even(uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("sxtab16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  const uint32_t low = (uint32_t)((int)(int16_t)a + (int8_t)b);
  const uint32_t high = (uint32_t)((int)(int16_t)(a >> 16) + (int8_t)(b >> 16));
  return (low & 0xffffU) | high << 16;
#endif
}

/* The same of bytes 1 and 3. */
static inline uint32_t quantized_dsp_odd(uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return quantized_dsp_even(a, b >> 8);
#endif
}

/* Bytes 0 and 2, and 1 and 3, with signs. */
static inline uint32_t quantized_dsp_even_of(uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("sxtb16 %0, %1" : "=r"(result) : "r"(b));
  return result;
#else
  return quantized_dsp_even(0, b);
#endif
}
static inline uint32_t quantized_dsp_odd_of(uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(result) : "r"(b));
  return result;
#else
  return quantized_dsp_even(0, b >> 8);
#endif
}

/* In the place of the function of conv_micro.h. */
static inline int8_t quantized_micro_clamped(int32_t v) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(v));
  return (int8_t)result;
#else
  return (int8_t)(v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v);
#endif
}

static inline uint32_t quantized_dsp_word(const void* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
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
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    int16_t* to = cells + 4 * j;
    int t = 0;
    for (int r = 0; r < d->r; ++r) {
      const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
      for (int s = 0; s < d->s; ++s) {
        const int column = (q + j) * d->stride_w - d->pad_left + s * d->dilation_w;
        const int is_outside = j >= count || row < 0 || row >= d->h || column < 0 || column >= d->w;
        const int8_t* from =
            is_outside ? NULL : x + ((ptrdiff_t)(row % rows) * d->w + column) * channels;
        if (by_words && !is_outside) {
          const int8_t* const end = from + channels;
          while (from != end) {
            const uint32_t word = quantized_dsp_word(from);
            const uint32_t two[2] = {quantized_dsp_even(less, word), quantized_dsp_odd(less, word)};
            memcpy(to, two, sizeof two);
            from += 4;
            to += 4 * QUANTIZED_MICRO_PIXELS;
          }
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

/* sums[j] += of pixel j by four weights; a block of cells. */
static inline void quantized_dsp_block(int32_t* sums, const int16_t* cells, uint32_t word) {
  const uint32_t even = quantized_dsp_even_of(word);
  const uint32_t odd = quantized_dsp_odd_of(word);
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j, cells += 4) {
    sums[j] = quantized_dsp_products(quantized_dsp_word(cells), even, sums[j]);
    sums[j] = quantized_dsp_products(quantized_dsp_word(cells + 2), odd, sums[j]);
  }
}

/* The same of all weights of one channel. cells: aligned to four bytes. */
static inline void quantized_dsp_channel(int32_t* sums, const int16_t* cells, const int8_t* w,
                                         int taps) {
  const int8_t* const end = w + (taps & ~3);
#if defined(__ARM_FEATURE_DSP)
  if (w != end) {
    int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    uint32_t even, odd;
    __asm__ volatile(
        "1:\n"
        "ldr %[even], [%[w]], #4\n"
        "ldmia %[x]!, {r4, r5, r6, r8}\n"
        "sxtb16 %[odd], %[even], ror #8\n"
        "sxtb16 %[even], %[even]\n"
        "smlad %[s0], r4, %[even], %[s0]\n"
        "smlad %[s1], r6, %[even], %[s1]\n"
        "smlad %[s0], r5, %[odd], %[s0]\n"
        "smlad %[s1], r8, %[odd], %[s1]\n"
        "ldmia %[x]!, {r4, r5, r6, r8}\n"
        "cmp %[w], %[end]\n"
        "smlad %[s2], r4, %[even], %[s2]\n"
        "smlad %[s3], r6, %[even], %[s3]\n"
        "smlad %[s2], r5, %[odd], %[s2]\n"
        "smlad %[s3], r8, %[odd], %[s3]\n"
        "bne 1b\n"
        : [w] "+r"(w), [x] "+r"(cells), [even] "=&r"(even), [odd] "=&r"(odd), [s0] "+r"(s0),
          [s1] "+r"(s1), [s2] "+r"(s2), [s3] "+r"(s3)
        : [end] "r"(end)
        : "r4", "r5", "r6", "r8", "cc", "memory");
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = s3;
  }
#else
  for (; w != end; w += 4, cells += 4 * QUANTIZED_MICRO_PIXELS) {
    quantized_dsp_block(sums, cells, quantized_dsp_word(w));
  }
#endif
  if (taps % 4 != 0) {
    int8_t last[4] = {0, 0, 0, 0};
    for (int t = 0; t < (taps & 3); ++t) last[t] = w[t];
    quantized_dsp_block(sums, cells, quantized_dsp_word(last));
  }
}

#define QUANTIZED_DSP
#include "ops/families/quantized/conv_micro.h"

/* All channels of `count` pixels, from number `at` on; in the place of the function of
   conv_micro.h. */
static void quantized_micro_channels(const quantized_micro_out* to, ptrdiff_t at,
                                     const int16_t* cells, const int8_t* w, const int32_t* bias,
                                     const quantized_factor* factors, int channels, int taps,
                                     int count) {
  const int is_plain = to->is_plain && count == QUANTIZED_MICRO_PIXELS;
  const int32_t shift = to->shift;
  int8_t* y = to->y ? to->y + at : NULL;
  for (int k = 0; k < channels; ++k, w += taps, ++at, ++factors) {
    const int32_t start = bias ? bias[k] : 0;
    const float scale = factors->scale;
    const int is_small = is_plain && quantized_micro_is_small(start, scale);
    const int32_t from = is_small ? start : 0;
    int32_t sums[QUANTIZED_MICRO_PIXELS] = {from, from, from, from};
    quantized_dsp_channel(sums, cells, w, taps);
    if (!is_small) {
      quantized_micro_finish(to, at, channels, sums, count, start, factors);
      continue;
    }
    if (y) {
      int8_t* pixel = y + k;
      *pixel = quantized_micro_clamped(quantized_micro_level(sums[0], scale, shift));
      pixel += channels;
      *pixel = quantized_micro_clamped(quantized_micro_level(sums[1], scale, shift));
      pixel += channels;
      *pixel = quantized_micro_clamped(quantized_micro_level(sums[2], scale, shift));
      pixel += channels;
      *pixel = quantized_micro_clamped(quantized_micro_level(sums[3], scale, shift));
    }
    if (to->bits) quantized_micro_mark(to->bits, at, channels, sums, scale, shift);
  }
}
