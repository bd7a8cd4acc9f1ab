/* sum_to for Cortex-M with single precision, in the place of the function of ref.h and with its
   results: eight sums at a time where rows are summed. */
#include "ops/families/reduction/reduce_dims.h"

/* sums[j] = the sum of n numbers, `stride` apart, from x[j] on, for eight j. */
static void sum_to_dsp_eight(real* sums, const real* x, int stride, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  memset(sums, 0, 8 * sizeof *sums);
  __asm__ volatile(
      "vldmia %[sums], {s8-s15}\n"
      "1:\n"
      "vldmia %[x], {s0-s7}\n"
      "add %[x], %[x], %[step]\n"
      "vadd.f32 s8, s8, s0\n"
      "vadd.f32 s9, s9, s1\n"
      "vadd.f32 s10, s10, s2\n"
      "vadd.f32 s11, s11, s3\n"
      "vadd.f32 s12, s12, s4\n"
      "vadd.f32 s13, s13, s5\n"
      "vadd.f32 s14, s14, s6\n"
      "vadd.f32 s15, s15, s7\n"
      "subs %[n], %[n], #1\n"
      "bne 1b\n"
      "vstmia %[sums], {s8-s15}\n"
      : [x] "+&r"(x), [n] "+&r"(n)
      : [sums] "r"(sums), [step] "r"((size_t)stride * sizeof *x)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
        "s14", "s15", "cc", "memory");
#else
  for (int j = 0; j < 8; ++j) {
    sums[j] = 0;
    for (int i = 0; i < n; ++i) sums[j] += x[(ptrdiff_t)i * stride + j];
  }
#endif
}

static void sum_to_ref(real* y, const real* x, const reduce_dims* d) {
  const int inner = d->over.count > 0 ? d->over.size[0] : 1;
  const ptrdiff_t stride = d->over.count > 0 ? d->over.stride[0] : 1;
  /* Rows of neighbours, each sum of one block. */
  const int are_rows = d->kept.count == 1 && d->kept.stride[0] == 1 && d->over.count == 1 &&
                       d->reduced == inner && inner > 0 && inner <= 128;
  const int tiled = are_rows ? d->outputs & ~7 : 0;
  for (int o = 0; o < tiled; o += 8) {
    real block[8];
    sum_to_dsp_eight(block, x + o, (int)stride, inner);
    for (int j = 0; j < 8; ++j) y[o + j] = (0 + block[j]) / (real)d->divisor;
  }
  for (int o = tiled; o < d->outputs; ++o) {
    const real* line = x + reduce_offset(o, &d->kept);
    real total = 0;
    for (int r = 0; r < d->reduced; r += inner) {
      const real* from = line + reduce_offset(r, &d->over);
      for (int begin = 0; begin < inner; begin += 128) {
        const int end = inner - begin < 128 ? inner : begin + 128;
        real block = 0;
        for (int i = begin; i < end; ++i) block += from[i * stride];
        total += block;
      }
    }
    y[o] = total / (real)d->divisor;
  }
}
