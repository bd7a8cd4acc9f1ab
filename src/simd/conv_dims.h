/* The sizes of a 2-D convolution, as its kernels see them. Plain C99: also emitted for devices. */
#ifndef THIMBLE_SIMD_CONV_DIMS_H_
#define THIMBLE_SIMD_CONV_DIMS_H_

#include "simd/activation.h"

/* Row-major NHWC images: the input is [n, h, w, c], the output [n, p, q, k], the window r x s.
   Padding at the bottom and on the right is whatever p and q imply; it is never stored. */
typedef struct conv_dims {
  int n;                      /* batch */
  int h, w, c;                /* input height, width, channels */
  int p, q, k;                /* output height, width, channels */
  int r, s;                   /* window height, width */
  int stride_h, stride_w;     /* at least 1 */
  int pad_top, pad_left;      /* zeros before the first row and column; may be negative (a crop) */
  int dilation_h, dilation_w; /* at least 1: distance between neighbouring taps of the window */
  int groups;                 /* divides c and k; channels are split into that many equal runs */
  int activation;             /* one of kernel_activation, applied to the finished output */
  int accumulate;             /* 1: what the output held before is added (before the activation) */
  int k_first, k_count;       /* of a gradient of weights: those of the output channels
                                 [k_first, k_first + k_count) alone; k_count 0: all */
  int c_of;                   /* of a gradient of weights where c counts some input channels of a
                                 convolution: how many that has. Sums are then taken in the order
                                 of its whole gradient. 0: c is all of them */
} conv_dims;

#endif
