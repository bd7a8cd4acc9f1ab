/* Sizes and constants of lamb_update. Plain C99. */
#ifndef THIMBLE_OPS_LAMB_UPDATE_DIMS_H_
#define THIMBLE_OPS_LAMB_UPDATE_DIMS_H_

#include "ops/families/binary/power.h"
#include "ops/families/math/double.h"

typedef struct lamb_dims {
  int n; /* elements */
  int maximize;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
} lamb_dims;

/* What frees the first moment and the root of the second of their bias. step counts from 1. */
static inline double lamb_first(const lamb_dims* d, int step) {
  return 1.0 / (1.0 - whole_power(d->beta1, step));
}
static inline double lamb_root(const lamb_dims* d, int step) {
  return 1.0 / math_double_sqrt(1.0 - whole_power(d->beta2, step));
}

/* The rate of a whole tensor, from the squares of the norms of parameter and step. */
static inline double lamb_rate(double lr, double param_squares, double step_squares) {
  if (param_squares == 0.0 || step_squares == 0.0) return lr;
  return lr * math_double_sqrt(param_squares) / math_double_sqrt(step_squares);
}

#endif
