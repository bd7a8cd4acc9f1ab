/* Tiles of micro.h for Cortex-M with single precision, for the target cortex-m-dsp: an instruction
   multiplies and adds two channels, or eight where there is Helium. Results are the same. */
#define INT8_ERROR_OWN_TILES
#include "ops/int8_error_grad/dims.h"

/* Of functions that have registers to themselves. */
#define INT8_ERROR_DSP_ALONE __attribute__((noinline))

#define INT8_ERROR_DSP_PAIR  \
  "ldrd r12, lr, [r0], #8\n" \
  "ldrd r2, r3, [r1], #8\n"  \
  "smlad r4, r12, r2, r4\n"  \
  "smlad r5, r12, r3, r5\n"  \
  "smlad r8, lr, r2, r8\n"   \
  "smlad r9, lr, r3, r9\n"   \
  "ldrd r2, r3, [r1], #8\n"  \
  "smlad r6, r12, r2, r6\n"  \
  "smlad r7, r12, r3, r7\n"  \
  "smlad r10, lr, r2, r10\n" \
  "smlad r11, lr, r3, r11\n"

/* See micro.h. pairs: a multiple of 8, not 0. e, w: aligned to four bytes, which ldrd and vld2x.32
   want. */
static INT8_ERROR_DSP_ALONE void int8_error_tile(int32_t* sums, const int16_t* e, const int16_t* w,
                                                 int pairs) {
#if defined(__ARM_FEATURE_MVE)
  register const int16_t* errors __asm__("r1") = e;
  register const int16_t* weights __asm__("r3") = w;
  register const int16_t* end __asm__("r5") = e + 4 * pairs;
  register int32_t* to __asm__("r9") = sums;
  __asm__ volatile(
      "ldr r0, [r9]\n"
      "ldr r2, [r9, #4]\n"
      "ldr r4, [r9, #8]\n"
      "ldr r6, [r9, #12]\n"
      "ldr r8, [r9, %[second]]\n"
      "ldr r10, [r9, %[second] + 4]\n"
      "ldr r12, [r9, %[second] + 8]\n"
      "ldr lr, [r9, %[second] + 12]\n"
      "1:\n"
      "vld20.32 {q0, q1}, [r1]\n"
      "vld21.32 {q0, q1}, [r1]!\n"
      "vld40.32 {q2, q3, q4, q5}, [r3]\n"
      "vld41.32 {q2, q3, q4, q5}, [r3]\n"
      "vld42.32 {q2, q3, q4, q5}, [r3]\n"
      "vld43.32 {q2, q3, q4, q5}, [r3]!\n"
      "vmladava.s16 r0, q0, q2\n"
      "vmladava.s16 r2, q0, q3\n"
      "vmladava.s16 r4, q0, q4\n"
      "vmladava.s16 r6, q0, q5\n"
      "vmladava.s16 r8, q1, q2\n"
      "vmladava.s16 r10, q1, q3\n"
      "vmladava.s16 r12, q1, q4\n"
      "vmladava.s16 lr, q1, q5\n"
      "cmp r1, r5\n"
      "bne 1b\n"
      "str r0, [r9]\n"
      "str r2, [r9, #4]\n"
      "str r4, [r9, #8]\n"
      "str r6, [r9, #12]\n"
      "str r8, [r9, %[second]]\n"
      "str r10, [r9, %[second] + 4]\n"
      "str r12, [r9, %[second] + 8]\n"
      "str lr, [r9, %[second] + 12]\n"
      : "+r"(errors), "+r"(weights)
      : "r"(end), "r"(to), [second] "i"(4 * INT8_ERROR_CHUNK)
      : "r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "s0", "s1", "s2", "s3", "s4", "s5", "s6",
        "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19",
        "s20", "s21", "s22", "s23", "cc", "memory");
#elif defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  register const int16_t* errors __asm__("r0") = e;
  register const int16_t* weights __asm__("r1") = w;
  register int32_t* to __asm__("r2") = sums;
  register const int16_t* end __asm__("r3") = w + 8 * pairs;
  __asm__ volatile(
      "push {r7, r11}\n"
      "vmov s0, s1, r2, r3\n"
      "ldmia r2!, {r4-r7}\n"
      "add r2, r2, %[step]\n"
      "ldmia r2, {r8-r11}\n"
      "1:\n"  // clang-format off
      INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR
      INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR INT8_ERROR_DSP_PAIR  // clang-format on
      "vmov r2, s1\n"
      "cmp r1, r2\n"
      "bne 1b\n"
      "vmov r2, s0\n"
      "stmia r2!, {r4-r7}\n"
      "add r2, r2, %[step]\n"
      "stmia r2, {r8-r11}\n"
      "pop {r7, r11}\n"
      : "+r"(errors), "+r"(weights), "+r"(to), "+r"(end)
      : [step] "i"(4 * INT8_ERROR_CHUNK - 16)
      : "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "s0", "s1", "cc", "memory");
#else
  for (int i = 0; i < 2; ++i) {
    for (int c = 0; c < 4; ++c) {
      uint32_t sum = (uint32_t)sums[i * INT8_ERROR_CHUNK + c];
      for (int pair = 0; pair < pairs; ++pair) {
        const int16_t* const a = e + 4 * pair + 2 * i;
        const int16_t* const b = w + 8 * pair + 2 * c;
        sum += (uint32_t)(a[0] * b[0]) + (uint32_t)(a[1] * b[1]);
      }
      sums[i * INT8_ERROR_CHUNK + c] = (int32_t)sum;
    }
  }
#endif
}

/* See micro.h. to: aligned to four bytes, which strd wants. */
static INT8_ERROR_DSP_ALONE void int8_error_widen(int16_t* to, const int8_t* w, int step, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  if (n > 0) {
    __asm__ volatile(
        "1:\n"
        "ldr r4, [%[w]]\n"
        "ldr r5, [%[w], %[step]]\n"
        "add %[w], %[w], %[step], lsl #1\n"
        "sxtb16 r6, r4\n"
        "sxtb16 r8, r5\n"
        "sxtb16 r4, r4, ror #8\n"
        "sxtb16 r5, r5, ror #8\n"
        "pkhbt r9, r6, r8, lsl #16\n"
        "pkhbt r10, r4, r5, lsl #16\n"
        "pkhtb r6, r8, r6, asr #16\n"
        "pkhtb r4, r5, r4, asr #16\n"
        "strd r9, r10, [%[to]], #8\n"
        "strd r6, r4, [%[to]], #8\n"
        "cmp %[to], %[end]\n"
        "bne 1b\n"
        : [to] "+r"(to), [w] "+r"(w)
        : [step] "r"(step), [end] "r"(to + 4 * n)
        : "r4", "r5", "r6", "r8", "r9", "r10", "cc", "memory");
  }
#else
  for (; n > 0; n -= 2, to += 8, w += 2 * (ptrdiff_t)step) {
    for (int c = 0; c < 4; ++c) {
      to[2 * c] = w[c];
      to[2 * c + 1] = w[step + c];
    }
  }
#endif
}

/* Two neighbouring numbers, of any place. */
static inline uint32_t int8_error_dsp_word(const int16_t* from) {
  uint32_t word;
  memcpy(&word, from, sizeof word);
  return word;
}

/* sum + the products of the numbers of two words. */
static inline int32_t int8_error_dsp_dot(int32_t sum, uint32_t a, uint32_t b) {
#if defined(__ARM_FEATURE_DSP)
  __asm__("smlad %0, %1, %2, %0" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
#else
  return sum + (int16_t)(a & 0xFFFF) * (int16_t)(b & 0xFFFF) +
         (int16_t)(a >> 16) * (int16_t)(b >> 16);
#endif
}

/* Two taps of four results, of which the first two words are known and the next two are read. */
#define INT8_ERROR_DSP_TAPS(x0, x1, x2, x3, at)           \
  {                                                       \
    const uint32_t t_ = int8_error_dsp_word(taps + (at)); \
    x2 = int8_error_dsp_word(x + (at) + 2);               \
    x3 = int8_error_dsp_word(x + (at) + 3);               \
    a0 = int8_error_dsp_dot(a0, x0, t_);                  \
    a1 = int8_error_dsp_dot(a1, x1, t_);                  \
    a2 = int8_error_dsp_dot(a2, x2, t_);                  \
    a3 = int8_error_dsp_dot(a3, x3, t_);                  \
  }

static void int8_error_four(int32_t* to, const int16_t* x, int pitch, const int16_t* taps, int r,
                            int s) {
  const int step = (s + 1) & ~1;
  int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  for (; r > 0; --r, x += pitch, taps += step) {
    uint32_t x0 = int8_error_dsp_word(x), x1 = int8_error_dsp_word(x + 1), x2, x3;
    INT8_ERROR_DSP_TAPS(x0, x1, x2, x3, 0)
    if (s == 3) {
      INT8_ERROR_DSP_TAPS(x2, x3, x0, x1, 2)
    } else if (s == 5) {
      INT8_ERROR_DSP_TAPS(x2, x3, x0, x1, 2)
      INT8_ERROR_DSP_TAPS(x0, x1, x2, x3, 4)
    } else if (s == 7) {
      INT8_ERROR_DSP_TAPS(x2, x3, x0, x1, 2)
      INT8_ERROR_DSP_TAPS(x0, x1, x2, x3, 4)
      INT8_ERROR_DSP_TAPS(x2, x3, x0, x1, 6)
    } else {
      for (int i = 2; i < s; i += 2) {
        x0 = x2;
        x1 = x3;
        INT8_ERROR_DSP_TAPS(x0, x1, x2, x3, i)
      }
    }
  }
  to[0] = a0;
  to[1] = a1;
  to[2] = a2;
  to[3] = a3;
}

#include "ops/int8_error_grad/micro.h"
