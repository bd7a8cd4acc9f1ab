/* Sizes of dequantize. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_DEQUANTIZE_DIMS_H_
#define THIMBLE_OPS_DEQUANTIZE_DIMS_H_

#include <stdint.h>

typedef struct dequantize_channel {
  float scale;
  int32_t zero_point;
} dequantize_channel;

/* Followed by one dequantize_channel per channel; one for the whole tensor where channels is 1. */
typedef struct dequantize_dims {
  int outer, channels, inner;
} dequantize_dims;

#endif
