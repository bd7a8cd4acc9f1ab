#ifndef THIMBLE_OPS_CONV2D_DIMS_H_
#define THIMBLE_OPS_CONV2D_DIMS_H_

#include "simd/conv_dims.h"

/* x: [n, h, w, c], weights: [k, r, s, c/groups], y: [n, p, q, k]. */
typedef conv_dims conv2d_dims;

#endif
