/* mul for Cortex-M with single precision, in the place of the function of ref.h and with its
   results: four products at a time where an operand is a tensor and the other one, too, or a row
   that is repeated. */
#include "ops/families/binary/binary_dims.h"

/* y[i] = a[i] * b[i]; y may be a or b. */
static void mul_dsp_row(real* y, const real* a, const real* b, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  const real* const end = y + (n & ~3);
  if (y != end) {
    __asm__ volatile(
        "1:\n"
        "vldmia %[a]!, {s0-s3}\n"
        "vldmia %[b]!, {s4-s7}\n"
        "vmul.f32 s0, s0, s4\n"
        "vmul.f32 s1, s1, s5\n"
        "vmul.f32 s2, s2, s6\n"
        "vmul.f32 s3, s3, s7\n"
        "vstmia %[y]!, {s0-s3}\n"
        "cmp %[y], %[end]\n"
        "bne 1b\n"
        : [y] "+r"(y), [a] "+r"(a), [b] "+r"(b)
        : [end] "r"(end)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc", "memory");
  }
  n &= 3;
#endif
  for (int i = 0; i < n; ++i) y[i] = a[i] * b[i];
}

static void mul_ref(real* y_, const real* a_, const real* b_, const binary_dims* d) {
  const int row = d->size[0];
  if (d->stride_a[0] == 1 && d->stride_b[0] == 1 &&
      (d->count == 1 || (d->count == 2 && d->stride_a[1] == row &&
                         (d->stride_b[1] == 0 || d->stride_b[1] == row)))) {
    for (int begin = 0; begin < d->n; begin += row, y_ += row, a_ += row) {
      mul_dsp_row(y_, a_, b_, row);
      b_ += d->count == 2 ? d->stride_b[1] : 0;
    }
    return;
  }
  for (int begin = 0; begin < d->n; begin += row) {
    ptrdiff_t at_a = 0;
    ptrdiff_t at_b = 0;
    int rest = begin / row;
    for (int axis = 1; axis < d->count; ++axis) {
      at_a += (ptrdiff_t)(rest % d->size[axis]) * d->stride_a[axis];
      at_b += (ptrdiff_t)(rest % d->size[axis]) * d->stride_b[axis];
      rest /= d->size[axis];
    }
    for (int i = 0; i < row; ++i, at_a += d->stride_a[0], at_b += d->stride_b[0]) {
      y_[begin + i] = a_[at_a] * b_[at_b];
    }
  }
}
