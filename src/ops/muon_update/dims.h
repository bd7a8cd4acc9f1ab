/* Sizes and constants of muon_update. Plain C99. */
#ifndef THIMBLE_OPS_MUON_UPDATE_DIMS_H_
#define THIMBLE_OPS_MUON_UPDATE_DIMS_H_

#include <stddef.h>

#include "ops/families/update/adam_dims.h"

typedef struct muon_dims {
  int n;       /* elements */
  int rows;    /* of a matrix; 0: no matrix, a step of AdamW */
  int columns; /* of a matrix */
  int nesterov;
  int steps; /* of the iteration */
  double momentum;
  double weight_decay;
  double epsilon;
  double a;
  double b;
  double c;
  double ratio; /* of the matrix's rate to lr */
  adam_dims adamw;
  double adamw_share; /* of lr */
} muon_dims;

/* The iteration works on the matrix or its transpose, whichever is wide: [low, high]. */
static inline int muon_low(const muon_dims* d) {
  return d->rows < d->columns ? d->rows : d->columns;
}
static inline int muon_high(const muon_dims* d) {
  return d->rows < d->columns ? d->columns : d->rows;
}

/* Numbers of scratch memory: two wide matrices and two of [low, low]. */
static inline ptrdiff_t muon_scratch(const muon_dims* d) {
  const ptrdiff_t low = muon_low(d);
  return 2 * low * ((ptrdiff_t)muon_high(d) + low);
}

#endif
