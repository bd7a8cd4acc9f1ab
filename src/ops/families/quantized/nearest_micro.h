/* A float as the nearest integer, halves to even. Beyond 512 any number as far away. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_NEAREST_MICRO_H_
#define THIMBLE_OPS_COMMON_NEAREST_MICRO_H_

#include "simd/requantize.h"

static inline int32_t quantized_micro_nearest(float v) { return quantized_nearest(v); }

#endif
