/* Sizes of quantized_dense. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_DENSE_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_DENSE_DIMS_H_

#include "simd/requantize.h"

/* Followed by the factor of each unit (QUANTIZED_FACTORS). */
typedef struct quantized_dense_dims {
  int rows, units, features;
  int32_t input_zero_point;
  quantized_result out;
} quantized_dense_dims;

#endif
