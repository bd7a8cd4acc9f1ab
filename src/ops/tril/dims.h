/* Sizes of tril and triu. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_TRIL_DIMS_H_
#define THIMBLE_OPS_TRIL_DIMS_H_

#include <stddef.h>

#include "ops/families/move/copy_dims.h"

/* Matrices [count, rows, columns]. Of row i tril keeps the columns up to i + diagonal, triu those
   from there on. */
typedef struct tril_dims {
  int count;
  int rows;
  int columns;
  int diagonal; /* between -rows and columns */
  copy_element element;
} tril_dims;

/* The first column beyond those that a row keeps below `edge`, which counts from row 0. */
static inline int tril_bound(int row, int edge, const tril_dims* d) {
  const int at = row + edge;
  return at < 0 ? 0 : at > d->columns ? d->columns : at;
}

#endif
