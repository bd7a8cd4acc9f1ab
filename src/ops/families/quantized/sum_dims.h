/* Sizes of the sum and the difference of two quantized tensors, and what an element of it is. Plain
   C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_SUM_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_SUM_DIMS_H_

#include "ops/families/nary/nary_dims.h"
#include "simd/requantize.h"

typedef struct quantized_sum_dims {
  nary_dims walk;
  quantized_result out;
  int32_t a_zero_point, b_zero_point;
  float a_scale, b_scale, y_scale;
  quantized_factor a_factor, b_factor, y_factor; /* fixed point: to twice the larger scale, and from
                                                    there, less 20 bits */
} quantized_sum_dims;

/* a + sign * b before it is brought within the bounds. sign: 1 or -1. */
static inline int64_t quantized_sum_unbounded(int32_t a, int32_t b, int32_t sign,
                                              const quantized_sum_dims* d) {
  a -= d->a_zero_point;
  b -= d->b_zero_point;
  if (d->out.fixed_point) {
    const int32_t left = quantized_times(a * (1 << 20), &d->a_factor);
    const int32_t right = quantized_times(b * (1 << 20), &d->b_factor);
    return quantized_unbounded(left + sign * right, &d->y_factor, &d->out);
  }
  const float left = (float)a * d->a_scale;
  const float right = (float)(sign * b) * d->b_scale;
  const float sum = left + right;
  return (int64_t)quantized_nearest(sum / d->y_scale) + d->out.zero_point;
}

#endif
