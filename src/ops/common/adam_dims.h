/* Sizes and constants of adam_update and adamw_update. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_ADAM_DIMS_H
#define THIMBLE_OPS_COMMON_ADAM_DIMS_H

#include <math.h>

typedef struct adam_dims {
  int n;         /* elements */
  int decoupled; /* weight decay shrinks the parameter itself (AdamW) */
  int maximize;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  double lr_scale;
} adam_dims;

/* What one step does to every element alike. */
typedef struct adam_factors {
  double shrink;    /* of the parameter before anything else */
  double step_size; /* the rate, freed of the first moment's bias */
  double root;      /* frees the root of the second moment of its bias */
} adam_factors;

/* x to the power n by squaring: the same bits on every machine. */
static inline double adam_power(double x, int n) {
  double result = 1.0;
  for (; n > 0; n >>= 1) {
    if (n & 1) result *= x;
    x *= x;
  }
  return result;
}

/* step counts from 1. */
static inline adam_factors adam_factors_at(const adam_dims* d, double lr, int step) {
  const double rate = lr * d->lr_scale;
  adam_factors f;
  f.shrink = d->decoupled ? 1.0 - rate * d->weight_decay : 1.0;
  f.step_size = rate / (1.0 - adam_power(d->beta1, step));
  f.root = 1.0 / sqrt(1.0 - adam_power(d->beta2, step));
  return f;
}

#endif
