#ifndef THIMBLE_OPS_CONV2D_WEIGHT_GRAD_DIMS_H_
#define THIMBLE_OPS_CONV2D_WEIGHT_GRAD_DIMS_H_

#include "simd/conv_dims.h"

/* The sizes of the convolution whose gradient is taken: x: [n, h, w, c], dy: [n, p, q, k],
   dw: [k, r, s, c/groups] is the output here. `activation` is not used. */
typedef conv_dims conv2d_weight_grad_dims;

#endif
