/* Sizes of prelu. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_PRELU_DIMS_H_
#define THIMBLE_OPS_PRELU_DIMS_H_

#include <stddef.h>

/* x is [rows, channels], with one slope a channel; one slope for all is one channel. */
typedef struct prelu_dims {
  int rows;
  int channels;
} prelu_dims;

#endif
