/* Words of two or four numbers in instructions of the DSP extension, for the target cortex-m-dsp.
   On other processors in plain C99, for tests. Source: Arm, "ARMv7-M Architecture Reference
   Manual".
 */
#include "ops/families/quantized/conv_micro_dims.h"

/* Of functions that have registers to themselves. */
#define QUANTIZED_DSP_ALONE __attribute__((noinline))

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

/* The nearest number of int8. */
static inline int32_t quantized_dsp_byte(int32_t v) {
#if defined(__ARM_FEATURE_DSP)
  int32_t result;
  __asm__("ssat %0, #8, %1" : "=r"(result) : "r"(v));
  return result;
#else
  return v < INT8_MIN ? INT8_MIN : v > INT8_MAX ? INT8_MAX : v;
#endif
}

/* The lower halves of a and b, and the upper ones. */
static inline uint32_t quantized_dsp_lower(uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return (a & 0xffffU) | b << 16;
#endif
}
static inline uint32_t quantized_dsp_upper(uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(result) : "r"(b), "r"(a));
  return result;
#else
  return a >> 16 | (b & 0xffff0000U);
#endif
}

/* The lower half of a and the upper one of b. */
static inline uint32_t quantized_dsp_ends(uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  uint32_t result;
  __asm__("pkhbt %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return (a & 0xffffU) | (b & 0xffff0000U);
#endif
}

static inline uint32_t quantized_dsp_word(const void* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

/* Weights as cells are; what is missing in the last block is 0. */
static void quantized_dsp_widen(uint32_t* to, const int8_t* w, int taps) {
  const int8_t* const end = w + (taps & ~3);
  for (; w != end; w += 4, to += 2) {
    const uint32_t word = quantized_dsp_word(w);
    to[0] = quantized_dsp_even_of(word);
    to[1] = quantized_dsp_odd_of(word);
  }
  if (taps % 4 != 0) {
    int8_t rest[4] = {0, 0, 0, 0};
    for (int i = 0; i < taps % 4; ++i) rest[i] = w[i];
    to[0] = quantized_dsp_even_of(quantized_dsp_word(rest));
    to[1] = quantized_dsp_odd_of(quantized_dsp_word(rest));
  }
}
