/* Sizes of recurrent ops. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_RECURRENT_DIMS_H_
#define THIMBLE_OPS_COMMON_RECURRENT_DIMS_H_

#include <stddef.h>

/* Sequences [batch, steps, ...]; hidden states [batch, units]. */
typedef struct recurrent_dims {
  int batch, steps, units;
  int reverse; /* 1: from the last step to the first */
  int relu;    /* 1: the plain cell ends in relu, not in tanh */
} recurrent_dims;

/* The step that is computed after `done` others. */
static inline int recurrent_step(const recurrent_dims* d, int done) {
  return d->reverse ? d->steps - 1 - done : done;
}

#endif
