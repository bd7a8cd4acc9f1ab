/* Sizes and constants of lars_update. Plain C99. */
#ifndef THIMBLE_OPS_LARS_UPDATE_DIMS_H_
#define THIMBLE_OPS_LARS_UPDATE_DIMS_H_

#include "ops/families/math/double.h"

typedef struct lars_dims {
  int n; /* elements */
  int maximize;
  double momentum; /* 0: no buffer */
  double weight_decay;
  double trust_coefficient;
  double epsilon;
} lars_dims;

/* The rate of a whole tensor, from the squares of the norms of parameter and gradient. */
static inline double lars_rate(const lars_dims* d, double lr, double param_squares,
                               double grad_squares) {
  const double param = math_double_sqrt(param_squares);
  const double grad = math_double_sqrt(grad_squares);
  if (param == 0.0 || grad == 0.0) return lr;
  return lr * d->trust_coefficient * param / (grad + d->weight_decay * param + d->epsilon);
}

#endif
