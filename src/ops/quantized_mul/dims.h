/* Sizes of quantized_mul. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_MUL_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_MUL_DIMS_H_

#include "ops/families/nary/nary_dims.h"
#include "simd/requantize.h"

typedef struct quantized_mul_dims {
  nary_dims walk;
  quantized_result out;
  int32_t a_zero_point, b_zero_point;
  quantized_factor factor;
} quantized_mul_dims;

#endif
