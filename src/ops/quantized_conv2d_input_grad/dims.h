/* Limits of quantized_conv2d_input_grad. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_CONV2D_INPUT_GRAD_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_CONV2D_INPUT_GRAD_DIMS_H_

#include "ops/families/conv/conv_kernel_dims.h"

/* Numbers of one channel that the in-place kernel keeps on its stack: rows of the image. */
#define QUANTIZED_KEPT_NUMBERS 256

#endif
