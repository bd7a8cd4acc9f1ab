#ifndef THIMBLE_OPS_ACCUMULATE_GRADIENT_DIMS_H_
#define THIMBLE_OPS_ACCUMULATE_GRADIENT_DIMS_H_

/* Sizes and constants of accumulate_gradient and mean_gradient. Plain C99. */
typedef struct accumulate_dims {
  int n; /* elements */
  double weight;
} accumulate_dims;

#endif
