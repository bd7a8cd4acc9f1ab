/* Sizes of requantize. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_REQUANTIZE_DIMS_H_
#define THIMBLE_OPS_REQUANTIZE_DIMS_H_

#include "simd/requantize.h"

typedef struct requantize_dims {
  int n;
  int32_t input_zero_point;
  quantized_factor factor;
  quantized_result out;
} requantize_dims;

#endif
