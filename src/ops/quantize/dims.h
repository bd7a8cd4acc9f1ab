/* Sizes of quantize. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZE_DIMS_H_
#define THIMBLE_OPS_QUANTIZE_DIMS_H_

#include "simd/requantize.h"

typedef struct quantize_dims {
  int n;
  float scale;
  quantized_result out;
} quantize_dims;

/* The nearest integer, halves away from zero; bounded like quantized_nearest. */
static inline int32_t quantize_nearest_away(float v) {
  const float bounded = v < -512.0F ? -512.0F : v > 512.0F ? 512.0F : v;
  const int32_t toward_zero = (int32_t)bounded;
  const float rest = bounded - (float)toward_zero;
  return toward_zero + (rest >= 0.5F ? 1 : rest <= -0.5F ? -1 : 0);
}

#endif
