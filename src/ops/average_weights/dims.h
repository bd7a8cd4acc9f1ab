/* Sizes and constants of average_weights. Plain C99. */
#ifndef THIMBLE_OPS_AVERAGE_WEIGHTS_DIMS_H_
#define THIMBLE_OPS_AVERAGE_WEIGHTS_DIMS_H_

typedef struct average_weights_dims {
  int n; /* elements */
  double decay;
} average_weights_dims;

#endif
