/* The sizes of batch normalisation, as its kernels see them. Plain C99: also emitted for devices.
 */
#ifndef THIMBLE_OPS_COMMON_BATCH_NORM_DIMS_H_
#define THIMBLE_OPS_COMMON_BATCH_NORM_DIMS_H_

#include "simd/activation.h"

/* Tensors are [rows, channels]: whatever stands before the channels is one run of rows. */
typedef struct batch_norm_dims {
  int rows;
  int channels;
  float epsilon;  /* added to the variance */
  float momentum; /* weight of the batch in the running statistics */
  int activation; /* one of kernel_activation, applied to the finished output */
} batch_norm_dims;

#endif
