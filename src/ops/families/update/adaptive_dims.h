/* Sizes of adaptive pooling. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_ADAPTIVE_DIMS_H_
#define THIMBLE_OPS_COMMON_ADAPTIVE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

/* Images [n, h, w, c] pooled to [n, p, q, c]. */
typedef struct adaptive_dims {
  int n;
  int h;
  int w;
  int c;
  int p;
  int q;
} adaptive_dims;

/* Cells of one side that place i of `to` places covers, of `from` cells in all. */
typedef struct adaptive_range {
  int begin;
  int end;
} adaptive_range;

static inline adaptive_range adaptive_cells(int i, int from, int to) {
  adaptive_range range;
  range.begin = (int)((int64_t)i * from / to);
  range.end = (int)((((int64_t)i + 1) * from + to - 1) / to);
  return range;
}

#endif
