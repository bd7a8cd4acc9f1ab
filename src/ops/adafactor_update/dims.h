/* Sizes and constants of adafactor_update. Plain C99. */
#ifndef THIMBLE_OPS_ADAFACTOR_UPDATE_DIMS_H_
#define THIMBLE_OPS_ADAFACTOR_UPDATE_DIMS_H_

#include "ops/families/math/double.h"

typedef struct adafactor_dims {
  int n;        /* elements: matrices * rows * columns */
  int matrices; /* 0: a vector or a number, whose second moment is kept whole */
  int rows;     /* of each matrix */
  int columns;
  int maximize;
  double beta2_decay;
  double epsilon1;
  double epsilon2;
  double d;
  double weight_decay;
} adafactor_dims;

/* The factors of one step, the same for every element. */
typedef struct adafactor_factors {
  double shrink; /* of the parameter before anything else */
  double alpha;  /* the rate, before the step itself is limited */
  double share;  /* of the new squares in the second moment */
} adafactor_factors;

/* param_squares: the sum of the squares of the parameter; step counts from 1. */
static inline adafactor_factors adafactor_factors_at(const adafactor_dims* d, double lr, int step,
                                                     double param_squares) {
  const double scale = math_double_sqrt(param_squares / d->n);
  const double rate = 1.0 / math_double_sqrt((double)step);
  adafactor_factors f;
  f.shrink = 1.0 - lr * d->weight_decay;
  f.alpha = (scale > d->epsilon2 ? scale : d->epsilon2) * (lr < rate ? lr : rate);
  f.share = math_double_pow((double)step, d->beta2_decay);
  return f;
}

/* The limited rate, from the sum of the squares of the step. */
static inline double adafactor_rate(const adafactor_dims* d, double alpha, double step_squares) {
  const double size = math_double_sqrt(step_squares / d->n) / d->d;
  return size > 1.0 ? alpha / size : alpha;
}

#endif
