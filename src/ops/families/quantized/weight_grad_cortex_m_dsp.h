/* Tiles of quantized_conv2d_weight_grad/micro.h for Cortex-M with single precision, for the target
   cortex-m-dsp: pixels are converted once for all channels of dy. Results are the same, see
   sum_cortex_m_dsp.h. */
#define QUANTIZED_OWN_TILES
#include "ops/quantized_conv2d_weight_grad/micro.h"

/* Pixels that are converted at once. */
#define QUANTIZED_DSP_GRAD_PIXELS 64

/* Of functions that have registers to themselves. */
#define QUANTIZED_DSP_GRAD_ALONE __attribute__((noinline))

#define QUANTIZED_DSP_OF_DY(number, a, b, c, d) \
  "vmla.f32 " a ", " number                     \
  ", s16\n"                                     \
  "vmla.f32 " b ", " number                     \
  ", s17\n"                                     \
  "vmla.f32 " c ", " number                     \
  ", s18\n"                                     \
  "vmla.f32 " d ", " number ", s19\n"

/* dw[k,c] += sum over n pixels i of dy[i,k] x[i,c], for four k and c; x: [n,4], n: not 0. */
static QUANTIZED_DSP_GRAD_ALONE void quantized_dsp_weight_grad(real* dw, const real* x,
                                                               const real* dy, int n, int channels,
                                                               int to_channels) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  const size_t step = (size_t)channels * sizeof *dw;
  __asm__ volatile(
      "vldmia %[dw], {s0-s3}\n"
      "add %[dw], %[dw], %[step]\n"
      "vldmia %[dw], {s4-s7}\n"
      "add %[dw], %[dw], %[step]\n"
      "vldmia %[dw], {s8-s11}\n"
      "add %[dw], %[dw], %[step]\n"
      "vldmia %[dw], {s12-s15}\n"
      "1:\n"
      "vldmia %[x]!, {s16-s19}\n"
      "vldmia %[dy], {s20-s23}\n"
      "add %[dy], %[dy], %[dy_step]\n"  // clang-format off
      QUANTIZED_DSP_OF_DY("s20", "s0", "s1", "s2", "s3")
      QUANTIZED_DSP_OF_DY("s21", "s4", "s5", "s6", "s7")
      QUANTIZED_DSP_OF_DY("s22", "s8", "s9", "s10", "s11")
      QUANTIZED_DSP_OF_DY("s23", "s12", "s13", "s14", "s15")  // clang-format on
      "cmp %[x], %[end]\n"
      "bne 1b\n"
      "vstmia %[dw], {s12-s15}\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstmia %[dw], {s8-s11}\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstmia %[dw], {s4-s7}\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstmia %[dw], {s0-s3}\n"
      : [dw] "+r"(dw), [x] "+r"(x), [dy] "+r"(dy)
      : [step] "r"(step), [dy_step] "r"((size_t)to_channels * sizeof *dy), [end] "r"(x + 4 * n)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
        "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
#else
  for (const real* const end = x + 4 * n; x != end; x += 4, dy += to_channels) {
    for (int k = 0; k < 4; ++k) {
      for (int c = 0; c < 4; ++c) dw[k * channels + c] += dy[k] * x[c];
    }
  }
#endif
}

/* In the place of the function of micro.h. */
static void quantized_weight_grad_run(real* dw, const quantized_weight_run* run) {
  const int tiled_k = run->k & ~3;
  const int tiled = tiled_k > 0 ? run->taps & ~3 : 0;
  real floats[4 * QUANTIZED_DSP_GRAD_PIXELS];
  for (int t = 0; t < tiled; t += 4) {
    for (int first = 0; first < run->n; first += QUANTIZED_DSP_GRAD_PIXELS) {
      const int left = run->n - first;
      const int n = left < QUANTIZED_DSP_GRAD_PIXELS ? left : QUANTIZED_DSP_GRAD_PIXELS;
      const int8_t* from = run->x + (ptrdiff_t)first * run->step + t;
      real* const end = floats + 4 * n;
      for (real* to = floats; to != end; to += 4, from += run->step) {
        for (int i = 0; i < 4; ++i) to[i] = (real)(from[i] - run->zero);
      }
      for (int k = 0; k < tiled_k; k += 4) {
        quantized_dsp_weight_grad(dw + k * run->size + t, floats,
                                  run->dy + (ptrdiff_t)first * run->k + k, n, run->size, run->k);
      }
    }
  }
  quantized_weight_grad_rest(dw, run, 0, tiled_k, tiled);
  quantized_weight_grad_rest(dw, run, tiled_k, run->k, 0);
}
