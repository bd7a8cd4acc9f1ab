#ifndef THIMBLE_OPS_SGD_UPDATE_DIMS_H_
#define THIMBLE_OPS_SGD_UPDATE_DIMS_H_

#include "ops/families/update/integer_dims.h"

/* Sizes and constants of sgd_update. Plain C99. */
typedef struct sgd_dims {
  int n; /* elements */
  int nesterov;
  int maximize;
  int blocks;      /* of a momentum in codes; 0: it is kept as it is */
  double momentum; /* 0: no buffer */
  double dampening;
  double weight_decay;
} sgd_dims;

/* Of the rule for whole numbers. */
typedef struct sgd_integer_dims {
  integer_dims walk;
  sgd_dims rule;
} sgd_integer_dims;

#endif
