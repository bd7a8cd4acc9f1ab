/* Functions of wide_micro.h for Cortex-M with single precision, for the target cortex-m-dsp.
   Results are the same, see sum_cortex_m_dsp.h. */
#define QUANTIZED_DSP_WIDE
#include "ops/families/quantized/wide_micro.h"
#undef QUANTIZED_DSP_WIDE

#define QUANTIZED_DSP_EIGHT_OF(a, b, c, d, e, f, g, h)                                        \
  "vmla.f32 " a ", s24, s16\nvmla.f32 " b ", s24, s17\nvmla.f32 " c ", s24, s18\nvmla.f32 " d \
  ", s24, s19\nvmla.f32 " e ", s24, s20\nvmla.f32 " f ", s24, s21\nvmla.f32 " g               \
  ", s24, s22\nvmla.f32 " h ", s24, s23\n"
/* One number of y, whose weights stand `at` bytes behind w. */
#define QUANTIZED_DSP_WIDE_OF(y, at)                                                         \
  "cbz " y                                                                                   \
  ", 2f\n"                                                                                   \
  "add r8, %[w], #" at                                                                       \
  "\n"                                                                                       \
  "vmov s24, " y                                                                             \
  "\n"                                                                                       \
  "vldmia r8!, {s16-s23}\n" QUANTIZED_DSP_EIGHT_OF(                                          \
      "s0", "s1", "s2", "s3", "s4", "s5", "s6",                                              \
      "s7") "vldmia r8, {s16-s23}\n" QUANTIZED_DSP_EIGHT_OF("s8", "s9", "s10", "s11", "s12", \
                                                            "s13", "s14", "s15") "2:\n"

/* Of functions that have registers to themselves. */
#define QUANTIZED_DSP_WIDE_ALONE __attribute__((noinline))

static QUANTIZED_DSP_WIDE_ALONE void quantized_micro_wide(real* to, const real* from, const real* y,
                                                          const real* w, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  __asm__ volatile(
      "vldmia %[from], {s0-s15}\n"
      "1:\n"
      "ldmia %[y]!, {r3-r6}\n"  // clang-format off
      QUANTIZED_DSP_WIDE_OF("r3", "0") QUANTIZED_DSP_WIDE_OF("r4", "64")
      QUANTIZED_DSP_WIDE_OF("r5", "128") QUANTIZED_DSP_WIDE_OF("r6", "192")  // clang-format on
      "add %[w], %[w], #256\n"
      "cmp %[y], %[end]\n"
      "bne.w 1b\n"
      "vstmia %[to], {s0-s15}\n"
      : [y] "+r"(y), [w] "+r"(w)
      : [to] "r"(to), [from] "r"(from), [end] "r"(y + n)
      : "r3", "r4", "r5", "r6", "r8", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
        "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22",
        "s23", "s24", "cc", "memory");
#else
  real sums[QUANTIZED_MICRO_WIDE];
  for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) sums[c] = from[c];
  for (const real* const end = y + n; y != end; ++y, w += QUANTIZED_MICRO_WIDE) {
    if (*y == 0) continue;
    for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) sums[c] += *y * w[c];
  }
  for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) to[c] = sums[c];
#endif
}

/* Four bytes of the word r3, less zero, become floats a to d. */
#define QUANTIZED_DSP_WIDE_FOUR(at, a, b, c, d) \
  "ldr r3, [%[from], #" at                      \
  "]\n"                                         \
  "sxtab r4, %[less], r3\n"                     \
  "sxtab r5, %[less], r3, ror #8\n"             \
  "vmov " a ", " b                              \
  ", r4, r5\n"                                  \
  "sxtab r4, %[less], r3, ror #16\n"            \
  "add r5, %[less], r3, asr #24\n"              \
  "vmov " c ", " d                              \
  ", r4, r5\n"                                  \
  "vcvt.f32.s32 " a ", " a                      \
  "\n"                                          \
  "vcvt.f32.s32 " b ", " b                      \
  "\n"                                          \
  "vcvt.f32.s32 " c ", " c                      \
  "\n"                                          \
  "vcvt.f32.s32 " d ", " d "\n"

static void quantized_micro_wide_floats(real* to, const int8_t* from, int step, int zero, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  __asm__ volatile(
      "1:\n"  // clang-format off
      QUANTIZED_DSP_WIDE_FOUR("0", "s0", "s1", "s2", "s3")
      QUANTIZED_DSP_WIDE_FOUR("4", "s4", "s5", "s6", "s7")
      QUANTIZED_DSP_WIDE_FOUR("8", "s8", "s9", "s10", "s11")
      QUANTIZED_DSP_WIDE_FOUR("12", "s12", "s13", "s14", "s15")  // clang-format on
      "vstmia %[to]!, {s0-s15}\n"
      "add %[from], %[from], %[step]\n"
      "cmp %[to], %[end]\n"
      "bne 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [step] "r"(step), [less] "r"(-zero), [end] "r"(to + QUANTIZED_MICRO_WIDE * n)
      : "r3", "r4", "r5", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
        "s12", "s13", "s14", "s15", "cc", "memory");
#else
  for (; n > 0; --n, from += step) {
    for (int c = 0; c < QUANTIZED_MICRO_WIDE; ++c) *to++ = (real)(from[c] - zero);
  }
#endif
}
