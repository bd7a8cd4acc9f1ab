/* Sizes of quantized_average_pool2d. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_AVERAGE_POOL2D_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_AVERAGE_POOL2D_DIMS_H_

#include "ops/families/pool/pool_dims.h"

typedef struct quantized_average_pool2d_dims {
  pool_dims pool;
  int zero_point;
  int away; /* 1: halves away from zero, 0: halves to even */
} quantized_average_pool2d_dims;

/* The rounded quotient; count: above 0. */
static inline int64_t quantized_quotient(int64_t sum, int64_t count, int away) {
  if (away) return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
  int64_t floor = sum / count;
  if (floor * count > sum) --floor;
  const int64_t twice = 2 * (sum - floor * count);
  return twice > count || (twice == count && floor % 2 != 0) ? floor + 1 : floor;
}

#endif
