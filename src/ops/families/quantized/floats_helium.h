/* Floats in vectors of Helium, for the target helium. In plain C99 on other processors, for tests.
 */
#ifndef THIMBLE_OPS_COMMON_FLOATS_HELIUM_H_
#define THIMBLE_OPS_COMMON_FLOATS_HELIUM_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of functions that have registers to themselves. */
#define QUANTIZED_HELIUM_ALONE __attribute__((noinline))

/* Vectors take floats below 2^-126 for 0. Returns whether sums of products of x[0..n) by whole
   numbers never come so low: each x is 0 or from 2^-100 to 2^127. What such numbers are multiples
   of, 2^-123, their products and sums are multiples of, too, after rounding. n: not 0. */
static int quantized_helium_is_exact(const float* x, int n) {
  uint32_t least = UINT32_MAX; /* of twice the bits less 1, which is the most for 0 */
  uint32_t most = 0;           /* of twice the bits: without the sign */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dlstp.32 lr, %[n]\n"
      "1:\n"
      "vldrw.32 q0, [%[x]], #16\n"
      "vshl.i32 q0, q0, #1\n"
      "vmaxv.u32 %[most], q0\n"
      "vsub.i32 q0, q0, %[one]\n"
      "vminv.u32 %[least], q0\n"
      "letp lr, 1b\n"
      : [least] "+r"(least), [most] "+r"(most), [x] "+r"(x)
      : [n] "r"(n), [one] "r"(1)
      : "lr", "q0", "cc", "memory");
#else
  for (int i = 0; i < n; ++i) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits <<= 1;
    most = bits > most ? bits : most;
    least = bits - 1 < least ? bits - 1 : least;
  }
#endif
  return least >= 0x1affffffU && most < 0xfe000000U;
}

/* to[4i + c] = from[step i + c] - zero, for i below n and four c; n: not 0. */
static void quantized_helium_floats(float* to, const int8_t* from, int step, int zero, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  if (zero == 0 && n % 4 == 0) {
    __asm__ volatile(
        "mov r4, #0\n"
        "vidup.u32 q1, r4, #1\n"
        "vadd.i32 q2, q1, %[step]\n"
        "vadd.i32 q3, q2, %[step]\n"
        "vadd.i32 q4, q3, %[step]\n"
        "dls lr, %[n]\n"
        "1:\n"
        "vldrb.s32 q0, [%[from], q1]\n"
        "vldrb.s32 q5, [%[from], q2]\n"
        "vldrb.s32 q6, [%[from], q3]\n"
        "vldrb.s32 q7, [%[from], q4]\n"
        "add %[from], %[from], %[four]\n"
        "vcvt.f32.s32 q0, q0\n"
        "vcvt.f32.s32 q5, q5\n"
        "vcvt.f32.s32 q6, q6\n"
        "vcvt.f32.s32 q7, q7\n"
        "vstrw.32 q0, [%[to]], #16\n"
        "vstrw.32 q5, [%[to]], #16\n"
        "vstrw.32 q6, [%[to]], #16\n"
        "vstrw.32 q7, [%[to]], #16\n"
        "le lr, 1b\n"
        : [to] "+r"(to), [from] "+r"(from)
        : [n] "r"(n / 4), [step] "r"(step), [four] "r"(4 * step)
        : "lr", "r4", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
    return;
  }
  __asm__ volatile(
      "dls lr, %[n]\n"
      "1:\n"
      "vldrb.s32 q0, [%[from]]\n"
      "add %[from], %[from], %[step]\n"
      "vsub.i32 q0, q0, %[zero]\n"
      "vcvt.f32.s32 q0, q0\n"
      "vstrw.32 q0, [%[to]], #16\n"
      "le lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [n] "r"(n), [step] "r"(step), [zero] "r"(zero)
      : "lr", "q0", "cc", "memory");
#else
  for (; n > 0; --n, from += step) {
    for (int c = 0; c < 4; ++c) *to++ = (float)(from[c] - zero);
  }
#endif
}

#endif
