/* Sizes of quantized_mean. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_MEAN_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_MEAN_DIMS_H_

#include "ops/families/reduction/reduce_dims.h"
#include "simd/requantize.h"

typedef struct quantized_mean_dims {
  reduce_dims walk;
  int32_t input_zero_point;
  quantized_factor factor; /* scale of x / (reduced * scale of y) */
  quantized_result out;
} quantized_mean_dims;

#endif
