/* Sizes and constants of adam_update and its relatives. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_ADAM_DIMS_H
#define THIMBLE_OPS_COMMON_ADAM_DIMS_H

#include "ops/families/binary/power.h"
#include "ops/families/math/double.h"
#include "ops/families/update/integer_dims.h"

typedef struct adam_dims {
  int n;         /* elements */
  int decoupled; /* weight decay shrinks the parameter itself (AdamW) */
  int maximize;
  int biased_root; /* epsilon is added before the bias is corrected (SparseAdam, epsilon_hat) */
  int blocks;      /* of quantized moments; 0: moments are kept as they are */
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
} adam_dims;

/* Of the rule for whole numbers. */
typedef struct adam_integer_dims {
  integer_dims walk;
  adam_dims rule;
} adam_integer_dims;

/* What one step does to every element alike. */
typedef struct adam_factors {
  double shrink;    /* of the parameter before anything else */
  double step_size; /* the rate, freed of the first moment's bias */
  double root;      /* frees the root of the second moment of its bias */
} adam_factors;

/* step counts from 1. */
static inline adam_factors adam_factors_at(const adam_dims* d, double lr, int step) {
  const double bias = math_double_sqrt(1.0 - whole_power(d->beta2, step));
  adam_factors f;
  f.shrink = d->decoupled ? 1.0 - lr * d->weight_decay : 1.0;
  f.step_size = lr / (1.0 - whole_power(d->beta1, step)) * (d->biased_root ? bias : 1.0);
  f.root = d->biased_root ? 1.0 : 1.0 / bias;
  return f;
}

#endif
