#ifndef THIMBLE_OPS_FROZEN_DENSE_DIMS_H_
#define THIMBLE_OPS_FROZEN_DENSE_DIMS_H_

#include "ir/element.h"

/* y = x W' for rows of x. x: [m, k]; y: [m, n]; the stored W is [n, k] if transpose_b, else [k, n].
   Of each row of W, every `group` elements have a scale. */
typedef struct frozen_dense_dims {
  int m, n, k;
  int transpose_b; /* 0 or 1 */
  int type;        /* of the elements of W, an ELEMENT_ number */
  int group;       /* 0: there are no scales */
} frozen_dense_dims;

#endif
