/* The sizes that kernels of convolutions take. Plain C99. */
#ifndef THIMBLE_OPS_FAMILIES_CONV_CONV_KERNEL_DIMS_H_
#define THIMBLE_OPS_FAMILIES_CONV_CONV_KERNEL_DIMS_H_

#include "simd/conv_dims.h"

/* x: [n, h, w, c], weights: [k, r, s, c/groups], y: [n, p, q, k]. */
typedef conv_dims conv2d_dims;

/* The sizes of the convolution whose gradient is taken: dx: [n, h, w, c] is the output here,
   dy: [n, p, q, k], weights: [k, r, s, c/groups]. */
typedef conv_dims conv2d_input_grad_dims;

/* The sizes of the convolution whose gradient is taken: x: [n, h, w, c], dy: [n, p, q, k],
   dw: [k, r, s, c/groups] is the output here. `activation` is not used. */
typedef conv_dims conv2d_weight_grad_dims;

/* x: [n, h, w, c], weights: [c, r, s, k/groups], y: [n, p, q, k]. stride, padding and dilation are
   those of the convolution from y to x whose adjoint this is; output padding only enlarges p and q:
   p = (h - 1) * stride_h - pad_top - pad_bottom + dilation_h * (r - 1) + 1 + output_padding_h. */
typedef conv_dims conv_transpose2d_dims;

#endif
