/* Parts of the micro.h of quantized_add in instructions of Helium, for the target helium: four
   numbers at a time. Results are the same. */
#define QUANTIZED_ADD_LOOPS
#include "ops/quantized_add/micro.h"

/* Of functions that have registers to themselves. */
#define QUANTIZED_ADD_ALONE __attribute__((noinline))

/* Whether quotients of sums are those of a division: nothing on the way to them is subnormal. */
static inline int quantized_helium_add_takes(const quantized_sum_dims* d) {
  const float scales[3] = {d->a_scale, d->b_scale, d->y_scale};
  for (int i = 0; i < 3; ++i) {
    if (!(scales[i] > 0x1p-40F && scales[i] < 0x1p40F)) return 0;
  }
  return 1;
}

/* Nearest whole numbers to four sums by the scale, in q1. q2 is what a quotient leaves: after two
   corrections it is the one of a division, since `inverse` is the nearest number. Source:
   Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990. */
#define QUANTIZED_HELIUM_QUOTIENTS \
  "vldrb.s32 q0, [%[a]], #4\n"     \
  "vldrb.s32 q1, [%[b]], #4\n"     \
  "vsub.i32 q0, q0, %[a_zero]\n"   \
  "vsub.i32 q1, q1, %[b_zero]\n"   \
  "vcvt.f32.s32 q0, q0\n"          \
  "vcvt.f32.s32 q1, q1\n"          \
  "vmul.f32 q0, q0, %[a_scale]\n"  \
  "vmul.f32 q1, q1, %[b_scale]\n"  \
  "vadd.f32 q0, q0, q1\n"          \
  "vmul.f32 q1, q0, %[inverse]\n"  \
  "vmov q2, q0\n"                  \
  "vfma.f32 q2, q1, %[minus]\n"    \
  "vfma.f32 q1, q2, %[inverse]\n"  \
  "vfma.f32 q0, q1, %[minus]\n"    \
  "vfma.f32 q1, q0, %[inverse]\n"  \
  "vcvtn.s32.f32 q1, q1\n"
#define QUANTIZED_HELIUM_SUMMANDS(added)                                                     \
  [a_zero] "r"(d->a_zero_point), [b_zero] "r"(d->b_zero_point), [a_scale] "r"(d->a_scale),   \
      [b_scale] "r"(d->b_scale), [inverse] "r"(1.0F / d->y_scale), [minus] "r"(-d->y_scale), \
      [zero] "r"(added)

/* In the place of the function of micro.h. */
static QUANTIZED_ADD_ALONE void quantized_micro_add(int8_t* y, const int8_t* a, const int8_t* b,
                                                    const quantized_sum_dims* d, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  if (quantized_helium_add_takes(d)) {
    __asm__ volatile(
        "dlstp.32 lr, %[n]\n"
        "1:\n" QUANTIZED_HELIUM_QUOTIENTS
        "vqadd.s32 q1, q1, %[zero]\n"
        "vqmovnb.s32 q1, q1\n"
        "vqmovnb.s16 q1, q1\n"
        "vstrb.32 q1, [%[y]], #4\n"
        "letp lr, 1b\n"
        : [y] "+l"(y), [a] "+l"(a), [b] "+l"(b)
        : [n] "r"(n), QUANTIZED_HELIUM_SUMMANDS(d->out.zero_point)
        : "lr", "q0", "q1", "q2", "cc", "memory");
    return;
  }
#endif
  quantized_micro_plain_add(y, a, b, d, n);
}

static QUANTIZED_ADD_ALONE void quantized_micro_add_inside(uint8_t* bits, const int8_t* a,
                                                           const int8_t* b,
                                                           const quantized_sum_dims* d, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  if (n >= 8 && quantized_helium_add_takes(d)) {
    int bytes = n / 8;
    n %= 8;
    __asm__ volatile(
        "mov r0, #1\n"
        "vmov.i32 q4, #255\n"
        "vdup.32 q3, r0\n"
        "mov r0, #0\n"
        "vidup.u32 q5, r0, #1\n"
        "vshl.u32 q3, q3, q5\n"
        "1:\n" QUANTIZED_HELIUM_QUOTIENTS
        "vadd.i32 q1, q1, %[zero]\n"
        "vpt.u32 cs, q4, q1\n"
        "vaddvt.u32 r0, q3\n" QUANTIZED_HELIUM_QUOTIENTS
        "vadd.i32 q1, q1, %[zero]\n"
        "vpt.u32 cs, q4, q1\n"
        "vaddvt.u32 lr, q3\n"
        "orr r0, r0, lr, lsl #4\n"
        "strb r0, [%[bits]], #1\n"
        "subs %[bytes], %[bytes], #1\n"
        "bne 1b\n"
        : [bits] "+r"(bits), [a] "+l"(a), [b] "+l"(b), [bytes] "+&r"(bytes)
        : QUANTIZED_HELIUM_SUMMANDS(d->out.zero_point + 128)
        : "lr", "r0", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
  }
#endif
  quantized_micro_plain_add_inside(bits, a, b, d, n);
}
