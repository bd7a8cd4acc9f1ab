/* Sizes of roll. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_ROLL_DIMS_H_
#define THIMBLE_OPS_ROLL_DIMS_H_

#include <stddef.h>

#include "ops/families/move/copy_dims.h"

/* A tensor of these axes, outermost first, of runs of elements that stay together. Element
   [.., i, ..] goes to [.., (i + shift) % size, ..]. Axes without a shift are merged with their
   neighbours, the last ones with the run. */
typedef struct roll_dims {
  int rows;  /* the product of all sizes but the last */
  int count; /* axes, from 1 to 8 */
  int size[8];
  int shift[8]; /* from 0 to below the size */
  int run;
  copy_element element;
} roll_dims;

/* Where a row goes. */
static inline ptrdiff_t roll_row(int row, const roll_dims* d) {
  ptrdiff_t to = 0;
  ptrdiff_t step = 1;
  for (int axis = d->count - 2; axis >= 0; --axis) {
    const int i = row % d->size[axis];
    const int left = d->size[axis] - d->shift[axis];
    to += step * (i < left ? i + d->shift[axis] : i - left);
    step *= d->size[axis];
    row /= d->size[axis];
  }
  return to;
}

#endif
