/* Sizes of quantized_add. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_ADD_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_ADD_DIMS_H_

#include "ops/families/nary/nary_dims.h"
#include "simd/requantize.h"

typedef struct quantized_add_dims {
  nary_dims walk;
  quantized_result out;
  int32_t a_zero_point, b_zero_point;
  float a_scale, b_scale, y_scale;
  quantized_factor a_factor, b_factor, y_factor; /* fixed point: to twice the larger scale, and from
                                                    there, less 20 bits */
} quantized_add_dims;

#endif
