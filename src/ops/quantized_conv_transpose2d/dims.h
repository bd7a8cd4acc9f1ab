/* Sizes of quantized_conv_transpose2d. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_CONV_TRANSPOSE2D_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_CONV_TRANSPOSE2D_DIMS_H_

#include "ops/families/quantized/each_result.h"
#include "simd/conv_dims.h"
#include "simd/requantize.h"

/* Followed by the factor of each of conv.k channels (QUANTIZED_FACTORS). conv: as in
   conv_transpose2d; `activation` and `accumulate` are not used. */
typedef struct quantized_conv_transpose2d_dims {
  conv_dims conv;
  int32_t input_zero_point;
  quantized_result out;
} quantized_conv_transpose2d_dims;

#endif
