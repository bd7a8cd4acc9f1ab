/* The tile of micro.h for Cortex-M with single precision, for the target cortex-m-dsp: all numbers
   of two channels of dy are read by five instructions, and four weights by one. Results are the
   same, see sum_cortex_m_dsp.h. */
#include "ops/families/quantized/wide_cortex_m_dsp.h"

#define QUANTIZED_DSP_TWO(first, second, a, b, c, d)         \
  "vmla.f32 " a ", " first ", s16\nvmla.f32 " b ", " first   \
  ", s17\n"                                                  \
  "vmla.f32 " c ", " first ", s18\nvmla.f32 " d ", " first   \
  ", s19\n"                                                  \
  "vmla.f32 " a ", " second ", s20\nvmla.f32 " b ", " second \
  ", s21\n"                                                  \
  "vmla.f32 " c ", " second ", s22\nvmla.f32 " d ", " second ", s23\n"

static void quantized_input_grad_tile(real* dx, const real* dy, const real* w, int channels,
                                      int from_channels, int n) {
  const real* const even = w + 4 * (n & ~1);
  const real* y0 = dy;
  const real* y1 = y0 + from_channels;
  const real* y2 = y1 + from_channels;
  const real* y3 = y2 + from_channels;
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  if (w != even) {
    const size_t step = (size_t)channels * sizeof *dx;
    real* at = dx;
    __asm__ volatile(
        "vldmia %[at], {s0-s3}\n"
        "add %[at], %[at], %[step]\n"
        "vldmia %[at], {s4-s7}\n"
        "add %[at], %[at], %[step]\n"
        "vldmia %[at], {s8-s11}\n"
        "add %[at], %[at], %[step]\n"
        "vldmia %[at], {s12-s15}\n"
        "1:\n"
        "vldmia %[w]!, {s16-s23}\n"
        "vldmia %[y0]!, {s24-s25}\n"
        "vldmia %[y1]!, {s26-s27}\n"
        "vldmia %[y2]!, {s28-s29}\n"
        "vldmia %[y3]!, {s30-s31}\n"  // clang-format off
        QUANTIZED_DSP_TWO("s24", "s25", "s0", "s1", "s2", "s3")
        QUANTIZED_DSP_TWO("s26", "s27", "s4", "s5", "s6", "s7")
        QUANTIZED_DSP_TWO("s28", "s29", "s8", "s9", "s10", "s11")
        QUANTIZED_DSP_TWO("s30", "s31", "s12", "s13", "s14", "s15")  // clang-format on
        "cmp %[w], %[end]\n"
        "bne 1b\n"
        "vstmia %[at], {s12-s15}\n"
        "sub %[at], %[at], %[step]\n"
        "vstmia %[at], {s8-s11}\n"
        "sub %[at], %[at], %[step]\n"
        "vstmia %[at], {s4-s7}\n"
        "sub %[at], %[at], %[step]\n"
        "vstmia %[at], {s0-s3}\n"
        : [w] "+r"(w), [y0] "+r"(y0), [y1] "+r"(y1), [y2] "+r"(y2), [y3] "+r"(y3), [at] "+r"(at)
        : [step] "r"(step), [end] "r"(even)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26",
          "s27", "s28", "s29", "s30", "s31", "cc", "memory");
  }
  n &= 1;
#else
  (void)even;
#endif
  for (; n > 0; --n, w += 4, ++y0, ++y1, ++y2, ++y3) {
    real* to = dx;
    for (int c = 0; c < 4; ++c) {
      to[c] += *y0 * w[c];
      to[c + channels] += *y1 * w[c];
      to[c + 2 * channels] += *y2 * w[c];
      to[c + 3 * channels] += *y3 * w[c];
    }
  }
}

static void quantized_input_grad_weights(real* to, const int8_t* w, int channels, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  __asm__ volatile(
      "1:\n"
      "ldr r4, [%[w]]\n"
      "add %[w], %[w], %[channels]\n"
      "sxtb r5, r4\n"
      "sxtb r6, r4, ror #8\n"
      "vmov s0, s1, r5, r6\n"
      "sxtb r5, r4, ror #16\n"
      "asr r6, r4, #24\n"
      "vmov s2, s3, r5, r6\n"
      "vcvt.f32.s32 s0, s0\n"
      "vcvt.f32.s32 s1, s1\n"
      "vcvt.f32.s32 s2, s2\n"
      "vcvt.f32.s32 s3, s3\n"
      "vstmia %[to]!, {s0-s3}\n"
      "cmp %[to], %[end]\n"
      "bne 1b\n"
      : [to] "+r"(to), [w] "+r"(w)
      : [channels] "r"(channels), [end] "r"(to + 4 * n)
      : "r4", "r5", "r6", "s0", "s1", "s2", "s3", "cc", "memory");
#else
  for (real* const end = to + 4 * n; to != end; to += 4, w += channels) {
    for (int c = 0; c < 4; ++c) to[c] = (real)w[c];
  }
#endif
}

#define QUANTIZED_DSP_TILES
#include "ops/quantized_conv2d_input_grad/micro.h"
#undef QUANTIZED_DSP_TILES
