/* Sizes of the gradients that read errors of int8. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_INT8_ERROR_GRAD_DIMS_H_
#define THIMBLE_OPS_INT8_ERROR_GRAD_DIMS_H_

#include "ops/error_int8/dims.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "simd/int8_error_sums.h"

typedef struct int8_error_conv_dims {
  conv_dims conv;     /* e: [n,p,q,k] */
  int factor_step;    /* 1: a factor for each channel, 0: one for all */
  int32_t zero_point; /* of x, where the op reads one */
} int8_error_conv_dims;

typedef struct int8_error_dims {
  int rows;
  int channels;
  int factor_step; /* as above */
} int8_error_dims;

/* Numbers that are computed at once. */
#define INT8_ERROR_CHUNK 64
/* Pixels that are computed at once. */
#define INT8_ERROR_PIXELS 4
/* Of windows of one pixel on microcontrollers: pixels whose sums are taken at once, and channels of
   e that are read for them, both of whole tiles. */
#define INT8_ERROR_STRIP 16
#define INT8_ERROR_DEPTH 64
#define INT8_ERROR_ROUND 16 /* channels of a round of a tile's loop */
/* Numbers of a channel of e with the edge that windows reach, and taps of a window. */
#define INT8_ERROR_PLANE 256
#define INT8_ERROR_TAPS 64
/* What stands for the largest factor, which 7 bits are then taken from: 128 * 32640 / 2^7 is an
   int16. */
#define INT8_ERROR_MULTIPLIER 32640
#define INT8_ERROR_SHIFT 7

#endif
