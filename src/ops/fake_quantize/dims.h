/* Sizes of fake_quantize. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_FAKE_QUANTIZE_DIMS_H_
#define THIMBLE_OPS_FAKE_QUANTIZE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

/* x: [outer, channels, inner], one scale a channel. */
typedef struct fake_quantize_dims {
  int outer, channels, inner;
  float low, high; /* less the zero point */
  float parts;
} fake_quantize_dims;

#endif
