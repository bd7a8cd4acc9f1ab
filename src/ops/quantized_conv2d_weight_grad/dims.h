/* Sizes of quantized_conv2d_weight_grad. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_CONV2D_WEIGHT_GRAD_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_CONV2D_WEIGHT_GRAD_DIMS_H_

#include "ops/families/conv/conv_kernel_dims.h"

typedef struct quantized_conv2d_weight_grad_dims {
  conv2d_weight_grad_dims conv;
  int32_t zero_point; /* of x */
} quantized_conv2d_weight_grad_dims;

#endif
