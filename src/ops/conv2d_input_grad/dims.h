#ifndef THIMBLE_OPS_CONV2D_INPUT_GRAD_DIMS_H_
#define THIMBLE_OPS_CONV2D_INPUT_GRAD_DIMS_H_

#include "simd/conv_dims.h"

/* The sizes of the convolution whose gradient is taken: dx: [n, h, w, c] is the output here,
   dy: [n, p, q, k], weights: [k, r, s, c/groups]. */
typedef conv_dims conv2d_input_grad_dims;

#endif
