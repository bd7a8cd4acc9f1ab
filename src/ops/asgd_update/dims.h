/* Sizes and constants of asgd_update. Plain C99. */
#ifndef THIMBLE_OPS_ASGD_UPDATE_DIMS_H_
#define THIMBLE_OPS_ASGD_UPDATE_DIMS_H_

#include "ops/families/math/double.h"

typedef struct asgd_dims {
  int n; /* elements */
  int maximize;
  double lambd;
  double alpha;
  double t0;
  double weight_decay;
} asgd_dims;

/* The factors of one step, the same for every element. */
typedef struct asgd_factors {
  double rate;
  double shrink; /* of the parameter before anything else */
  double share;  /* of the new parameter in the average */
  double next;   /* the rate of the next step */
} asgd_factors;

/* step counts from 1; eta: the rate that the step before has left for this one. */
static inline asgd_factors asgd_factors_at(const asgd_dims* d, double lr, int step, double eta) {
  const double before = step - 1;
  asgd_factors f;
  f.rate = step == 1 ? lr : eta;
  f.shrink = 1.0 - d->lambd * f.rate;
  f.share = before - d->t0 > 1.0 ? 1.0 / (before - d->t0) : 1.0;
  f.next = lr / math_double_pow(1.0 + d->lambd * lr * step, d->alpha);
  return f;
}

#endif
