/* Sizes and constants of nadam_update. Plain C99. */
#ifndef THIMBLE_OPS_NADAM_UPDATE_DIMS_H_
#define THIMBLE_OPS_NADAM_UPDATE_DIMS_H_

#include "ops/families/binary/power.h"
#include "ops/families/math/double.h"

typedef struct nadam_dims {
  int n;         /* elements */
  int decoupled; /* weight decay shrinks the parameter itself */
  int maximize;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  double momentum_decay;
} nadam_dims;

/* What one step does to every element alike. */
typedef struct nadam_factors {
  double shrink;      /* of the parameter before anything else */
  double mu_product;  /* of the momenta of all steps so far */
  double grad_size;   /* the rate of the gradient */
  double moment_size; /* the rate of the first moment */
  double root;        /* frees the root of the second moment of its bias */
} nadam_factors;

/* The momentum of a step, which warms up. */
static inline double nadam_momentum(const nadam_dims* d, int step) {
  return d->beta1 * (1.0 - 0.5 * math_double_pow(0.96, step * d->momentum_decay));
}

/* mu_product: of the steps before; step counts from 1. */
static inline nadam_factors nadam_factors_at(const nadam_dims* d, double lr, int step,
                                             double mu_product) {
  const double mu = nadam_momentum(d, step);
  const double mu_next = nadam_momentum(d, step + 1);
  nadam_factors f;
  f.shrink = d->decoupled ? 1.0 - lr * d->weight_decay : 1.0;
  f.mu_product = mu_product * mu;
  f.grad_size = lr * (1.0 - mu) / (1.0 - f.mu_product);
  f.moment_size = lr * mu_next / (1.0 - f.mu_product * mu_next);
  f.root = 1.0 / math_double_sqrt(1.0 - whole_power(d->beta2, step));
  return f;
}

#endif
