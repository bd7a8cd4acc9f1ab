/* Sizes of quantized_conv2d_rows. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_CONV2D_ROWS_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_CONV2D_ROWS_DIMS_H_

#include "ops/quantized_conv2d/dims.h"

/* Most convolutions of a chain. */
#define QUANTIZED_ROWS_STAGES 8

/* Followed by the factors of the channels of all stages (QUANTIZED_FACTORS). */
typedef struct quantized_conv2d_rows_dims {
  int32_t count; /* stages: convolutions, the first of which reads x */
  quantized_conv2d_dims stages[QUANTIZED_ROWS_STAGES];
} quantized_conv2d_rows_dims;

/* Rows of the image that a stage reads which its window covers. */
static inline int quantized_rows_kept(const conv_dims* stage) {
  const int covered = (stage->r - 1) * stage->dilation_h + 1;
  return covered < stage->h ? covered : stage->h;
}

#endif
