/* Sizes and constants of lion_update. Plain C99. */
#ifndef THIMBLE_OPS_LION_UPDATE_DIMS_H_
#define THIMBLE_OPS_LION_UPDATE_DIMS_H_

typedef struct lion_dims {
  int n; /* elements */
  int maximize;
  double beta1;
  double beta2;
  double weight_decay;
} lion_dims;

#endif
