#include "ops/families/softmax/int8_softmax.h"

#ifdef THIMBLE_OF_INTEGERS

/* Of int8: y = 256 exp(x) / sum over the axis of exp(x) - 128, in integers. x, y: [outer, size,
   inner], y may be x. size: at most 4095, so that the sum fits. */
static void softmax_ref(real* y, const real* x, const quantized_softmax_dims* d) {
  const ptrdiff_t step = d->along.inner;
  const int size = d->along.size;
  for (int row = 0; row < d->along.outer * d->along.inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->along.inner) * size * step + row % d->along.inner;
    int32_t largest = -128;
    for (int c = 0; c < size; ++c) {
      const int32_t value = (int32_t)x[at + c * step];
      if (value > largest) largest = value;
    }
    int32_t sum = 0; /* of 12.19 */
    for (int c = 0; c < size; ++c) {
      const int32_t difference = (int32_t)x[at + c * step] - largest;
      if (difference < d->least) continue;
      sum += quantized_shift_down(quantized_softmax_exp(difference, d), 12);
    }
    int room = 0; /* zeros above the sum's highest bit */
    while (room < 31 && ((uint32_t)sum << room) < (uint32_t)1 << 31) ++room;
    const int32_t scale =
        quantized_reciprocal((int64_t)((uint32_t)sum << room) - ((int64_t)1 << 31));
    for (int c = 0; c < size; ++c) {
      const int32_t difference = (int32_t)x[at + c * step] - largest;
      int32_t value = 0;
      if (difference >= d->least) {
        const int32_t e = quantized_softmax_exp(difference, d);
        value = quantized_shift_down(quantized_high_product(scale, e), 12 - room + 23);
      }
      y[at + c * step] = (real)(value > 255 ? 127 : value - 128);
    }
  }
}

#else

/* y = exp(x) / sum over the axis of exp(x). x, y: [outer, size, inner], y may be x. */
static void softmax_ref(real* y, const real* x, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real largest = x[at];
    for (int c = 1; c < d->size; ++c) {
      if (x[at + c * step] > largest) largest = x[at + c * step];
    }
    real sum = 0;
    for (int c = 0; c < d->size; ++c) {
      const real value = exp(x[at + c * step] - largest);
      y[at + c * step] = value;
      sum += value;
    }
    for (int c = 0; c < d->size; ++c) y[at + c * step] /= sum;
  }
}

/* dx = y (dy - sum over the axis of dy y). All: [outer, size, inner]; dx may be dy or y. */
static void softmax_grad_ref(real* dx, const real* dy, const real* y, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real sum = 0;
    for (int c = 0; c < d->size; ++c) sum += dy[at + c * step] * y[at + c * step];
    for (int c = 0; c < d->size; ++c) {
      dx[at + c * step] = y[at + c * step] * (dy[at + c * step] - sum);
    }
  }
}

#endif
