/* Sizes and constants of adamax_update. Plain C99. */
#ifndef THIMBLE_OPS_ADAMAX_UPDATE_DIMS_H_
#define THIMBLE_OPS_ADAMAX_UPDATE_DIMS_H_

#include "ops/families/binary/power.h"

typedef struct adamax_dims {
  int n; /* elements */
  int maximize;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
} adamax_dims;

/* The rate, freed of the first moment's bias. step counts from 1. */
static inline double adamax_step_size(const adamax_dims* d, double lr, int step) {
  return lr / (1.0 - whole_power(d->beta1, step));
}

#endif
