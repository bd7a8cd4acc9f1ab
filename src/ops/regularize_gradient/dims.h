/* Sizes and constants of regularize_gradient. Plain C99. */
#ifndef THIMBLE_OPS_REGULARIZE_GRADIENT_DIMS_H_
#define THIMBLE_OPS_REGULARIZE_GRADIENT_DIMS_H_

typedef struct regularize_gradient_dims {
  int n; /* elements */
  double l1;
  double l2;
} regularize_gradient_dims;

#endif
