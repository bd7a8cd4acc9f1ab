/* Functions of masked_grad_micro.h for Cortex-M with single precision, for the target cortex-m-dsp.
   Results are the same, see sum_cortex_m_dsp.h. */
#include "ops/quantized_conv2d_input_grad/cortex_m_dsp.h"

/* Channels of dy that are summed at once. */
#define QUANTIZED_MASKED_DEPTH 16

/* Of functions that have registers to themselves. */
#define QUANTIZED_DSP_MASKED_ALONE __attribute__((noinline))

#define QUANTIZED_DSP_MASKED_EIGHT(a, b, c, d, e, f, g, h)                                        \
  "vmla.f32 s0, s1, " a "\nvmla.f32 s0, s2, " b "\nvmla.f32 s0, s3, " c "\nvmla.f32 s0, s4, " d   \
  "\nvmla.f32 s0, s5, " e "\nvmla.f32 s0, s6, " f "\nvmla.f32 s0, s7, " g "\nvmla.f32 s0, s8, " h \
  "\n"
/* A channel: the shift that makes its bit the sign, and its bytes behind w and dx. */
#define QUANTIZED_DSP_MASKED_OF(shift, w, dx)                                                     \
  "lsls r4, r3, #" shift                                                                          \
  "\n"                                                                                            \
  "bpl 2f\n"                                                                                      \
  "add r5, %[w], #" w                                                                             \
  "\n"                                                                                            \
  "vldr s0, [%[dx], #" dx                                                                         \
  "]\n"                                                                                           \
  "vldmia r5!, {s1-s8}\n" QUANTIZED_DSP_MASKED_EIGHT(                                             \
      "s16", "s17", "s18", "s19", "s20", "s21", "s22",                                            \
      "s23") "vldmia r5, {s1-s8}\n" QUANTIZED_DSP_MASKED_EIGHT("s24", "s25", "s26", "s27", "s28", \
                                                               "s29", "s30",                      \
                                                               "s31") "vstr s0, [%[dx], #" dx     \
                                                                      "]\n"                       \
                                                                      "2:\n"

static QUANTIZED_DSP_MASKED_ALONE void quantized_masked_sums(real* dx, const real* y, const real* w,
                                                             const uint8_t* bits, int bytes) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  __asm__ volatile(
      "vldmia %[y], {s16-s31}\n"
      "1:\n"
      "ldrb r3, [%[bits]], #1\n"  // clang-format off
      QUANTIZED_DSP_MASKED_OF("31", "0", "0") QUANTIZED_DSP_MASKED_OF("30", "64", "4")
      QUANTIZED_DSP_MASKED_OF("29", "128", "8") QUANTIZED_DSP_MASKED_OF("28", "192", "12")
      QUANTIZED_DSP_MASKED_OF("27", "256", "16") QUANTIZED_DSP_MASKED_OF("26", "320", "20")
      QUANTIZED_DSP_MASKED_OF("25", "384", "24") QUANTIZED_DSP_MASKED_OF("24", "448", "28")
      // clang-format on
      "add %[w], %[w], #512\n"
      "add %[dx], %[dx], #32\n"
      "cmp %[bits], %[end]\n"
      "bne.w 1b\n"
      : [dx] "+r"(dx), [w] "+r"(w), [bits] "+r"(bits)
      : [y] "r"(y), [end] "r"(bits + bytes)
      : "r3", "r4", "r5", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s16", "s17", "s18",
        "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31",
        "cc", "memory");
#else
  for (int c = 0; c < 8 * bytes; ++c, w += QUANTIZED_MASKED_DEPTH) {
    real sum = dx[c];
    if ((bits[c / 8] >> (c % 8) & 1) == 0) continue;
    for (int k = 0; k < QUANTIZED_MASKED_DEPTH; ++k) sum += y[k] * w[k];
    dx[c] = sum;
  }
#endif
}

/* One channel of the words r3 to r6, of four numbers k: the rotation that makes it the lowest byte,
   and its bytes behind `to`. */
#define QUANTIZED_DSP_MASKED_FOUR(rotated, at) \
  "sxtb r8, r3" rotated                        \
  "\n"                                         \
  "sxtb r9, r4" rotated                        \
  "\n"                                         \
  "vmov s0, s1, r8, r9\n"                      \
  "sxtb r8, r5" rotated                        \
  "\n"                                         \
  "sxtb r9, r6" rotated                        \
  "\n"                                         \
  "vmov s2, s3, r8, r9\n"                      \
  "add r8, %[to], #" at                        \
  "\n"                                         \
  "vcvt.f32.s32 s0, s0\n"                      \
  "vcvt.f32.s32 s1, s1\n"                      \
  "vcvt.f32.s32 s2, s2\n"                      \
  "vcvt.f32.s32 s3, s3\n"                      \
  "vstmia r8, {s0-s3}\n"

static void quantized_masked_weights(real* to, const int8_t* w, int step, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  for (int k = 0; k < QUANTIZED_MASKED_DEPTH; k += 4) {
    const int8_t* from = w + (ptrdiff_t)k * step;
    real* at = to + k;
    __asm__ volatile(
        "1:\n"
        "ldr r4, [%[from], %[step]]\n"
        "ldr r5, [%[from], %[step], lsl #1]\n"
        "ldr r6, [%[from], %[thrice]]\n"
        "ldr r3, [%[from]], #4\n"  // clang-format off
        QUANTIZED_DSP_MASKED_FOUR("", "0") QUANTIZED_DSP_MASKED_FOUR(", ror #8", "64")
        QUANTIZED_DSP_MASKED_FOUR(", ror #16", "128") QUANTIZED_DSP_MASKED_FOUR(", ror #24", "192")
        // clang-format on
        "add %[to], %[to], #256\n"
        "cmp %[from], %[end]\n"
        "bne 1b\n"
        : [to] "+r"(at), [from] "+r"(from)
        : [step] "r"(step), [thrice] "r"(3 * step), [end] "r"(from + n)
        : "r3", "r4", "r5", "r6", "r8", "r9", "s0", "s1", "s2", "s3", "cc", "memory");
  }
#else
  for (const int8_t* const end = w + n; w != end; ++w) {
    for (int k = 0; k < QUANTIZED_MASKED_DEPTH; ++k) *to++ = (real)w[(ptrdiff_t)k * step];
  }
#endif
}

#define QUANTIZED_DSP_MASKED
#include "ops/families/quantized/masked_grad_micro.h"
#undef QUANTIZED_DSP_MASKED
