/* Sizes of error_to_int8 and error_from_int8. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_ERROR_INT8_DIMS_H_
#define THIMBLE_OPS_ERROR_INT8_DIMS_H_

#include "simd/requantize.h"

/* Below this a scale has few bits, and quotients by it are too large. */
#define ERROR_LEAST_SCALE 0x1p-126F

typedef struct error_int8_dims {
  int n;
} error_int8_dims;

#endif
