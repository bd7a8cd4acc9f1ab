#ifndef THIMBLE_OPS_CONV_TRANSPOSE2D_DIMS_H_
#define THIMBLE_OPS_CONV_TRANSPOSE2D_DIMS_H_

#include "simd/conv_dims.h"

/* x: [n, h, w, c], weights: [c, r, s, k/groups], y: [n, p, q, k]. stride, padding and dilation are
   those of the convolution from y to x whose adjoint this is; output padding only enlarges p and q:
   p = (h - 1) * stride_h - pad_top - pad_bottom + dilation_h * (r - 1) + 1 + output_padding_h. */
typedef conv_dims conv_transpose2d_dims;

#endif
