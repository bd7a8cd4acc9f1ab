/* The tiles of the micro.h of quantized_conv2d_weight_grad in instructions of Helium, for the
   target helium: four channels of x in a vector. Results are the same. */
#include "ops/families/quantized/floats_helium.h"
#define QUANTIZED_OWN_TILES
#include "ops/quantized_conv2d_weight_grad/micro.h"

/* Pixels whose channels are converted at once. */
#define QUANTIZED_HELIUM_PIXELS 64

/* dw[k,c] += sum over n pixels i of dy[i,k] x[i,c], for four k and four c; x: [n,4]. */
static QUANTIZED_HELIUM_ALONE void quantized_weight_grad_fours(real* dw, const real* x,
                                                               const real* dy, int n, int channels,
                                                               int to_channels) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  const size_t step = (size_t)channels * sizeof *dw;
  __asm__ volatile(
      "vldrw.32 q0, [%[dw]]\n"
      "add %[dw], %[dw], %[step]\n"
      "vldrw.32 q1, [%[dw]]\n"
      "add %[dw], %[dw], %[step]\n"
      "vldrw.32 q2, [%[dw]]\n"
      "add %[dw], %[dw], %[step]\n"
      "vldrw.32 q3, [%[dw]]\n"
      "dls lr, %[n]\n"
      "1:\n"
      "vldrw.32 q4, [%[x]], #16\n"
      "ldm %[dy], {r4, r5, r6, r8}\n"
      "add %[dy], %[dy], %[row]\n"
      "vmul.f32 q5, q4, r4\n"
      "vmul.f32 q6, q4, r5\n"
      "vadd.f32 q0, q0, q5\n"
      "vmul.f32 q5, q4, r6\n"
      "vadd.f32 q1, q1, q6\n"
      "vmul.f32 q6, q4, r8\n"
      "vadd.f32 q2, q2, q5\n"
      "vadd.f32 q3, q3, q6\n"
      "le lr, 1b\n"
      "vstrw.32 q3, [%[dw]]\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstrw.32 q2, [%[dw]]\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstrw.32 q1, [%[dw]]\n"
      "sub %[dw], %[dw], %[step]\n"
      "vstrw.32 q0, [%[dw]]\n"
      : [dw] "+r"(dw), [x] "+r"(x), [dy] "+r"(dy)
      : [n] "r"(n), [step] "r"(step), [row] "r"((size_t)to_channels * sizeof *dy)
      : "lr", "r4", "r5", "r6", "r8", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "cc", "memory");
#else
  for (int i = 0; i < n; ++i, x += 4, dy += to_channels) {
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
  real numbers[4 * QUANTIZED_HELIUM_PIXELS];
  if (run->n * run->k == 0 || !quantized_helium_is_exact(run->dy, run->n * run->k)) {
    quantized_weight_grad_plain_run(dw, run);
    return;
  }
  for (int t = 0; t < tiled; t += 4) {
    for (int first = 0; first < run->n; first += QUANTIZED_HELIUM_PIXELS) {
      const int rest = run->n - first;
      const int n = rest < QUANTIZED_HELIUM_PIXELS ? rest : QUANTIZED_HELIUM_PIXELS;
      quantized_helium_floats(numbers, run->x + (ptrdiff_t)first * run->step + t, run->step,
                              run->zero, n);
      for (int k = 0; k < tiled_k; k += 4) {
        quantized_weight_grad_fours(dw + k * run->size + t, numbers,
                                    run->dy + (ptrdiff_t)first * run->k + k, n, run->size, run->k);
      }
    }
  }
  quantized_weight_grad_rest(dw, run, 0, tiled_k, tiled);
  quantized_weight_grad_rest(dw, run, tiled_k, run->k, 0);
}
