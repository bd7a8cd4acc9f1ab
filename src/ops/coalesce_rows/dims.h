/* Sizes of coalesce_rows and dense_rows. Plain C99. */
#ifndef THIMBLE_OPS_COALESCE_ROWS_DIMS_H_
#define THIMBLE_OPS_COALESCE_ROWS_DIMS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct coalesce_dims {
  int count;   /* rows that are given */
  int width;   /* of a row */
  int rows;    /* of the whole gradient */
  int padding; /* the index whose rows are left out; -1: none */
  int mean;    /* means instead of sums */
} coalesce_dims;

/* Whether an index is that of a row with a gradient. */
static inline int coalesce_counts(const coalesce_dims* d, int32_t index) {
  return index >= 0 && index < d->rows && index != d->padding;
}

#endif
