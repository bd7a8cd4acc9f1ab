/* Sizes and constants of adagrad_update. Plain C99. */
#ifndef THIMBLE_OPS_ADAGRAD_UPDATE_DIMS_H_
#define THIMBLE_OPS_ADAGRAD_UPDATE_DIMS_H_

typedef struct adagrad_dims {
  int n; /* elements */
  int maximize;
  double lr_decay;
  double epsilon;
  double weight_decay;
} adagrad_dims;

/* The rate of a step, which counts from 1. */
static inline double adagrad_rate(const adagrad_dims* d, double lr, int step) {
  return lr / (1.0 + (step - 1) * d->lr_decay);
}

#endif
