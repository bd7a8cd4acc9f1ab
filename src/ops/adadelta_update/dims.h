/* Sizes and constants of adadelta_update. Plain C99. */
#ifndef THIMBLE_OPS_ADADELTA_UPDATE_DIMS_H_
#define THIMBLE_OPS_ADADELTA_UPDATE_DIMS_H_

typedef struct adadelta_dims {
  int n; /* elements */
  int maximize;
  double rho;
  double epsilon;
  double weight_decay;
} adadelta_dims;

#endif
