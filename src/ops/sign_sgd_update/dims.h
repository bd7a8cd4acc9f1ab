/* Sizes and constants of sign_sgd_update. Plain C99. */
#ifndef THIMBLE_OPS_SIGN_SGD_UPDATE_DIMS_H_
#define THIMBLE_OPS_SIGN_SGD_UPDATE_DIMS_H_

typedef struct sign_sgd_dims {
  int n;         /* elements */
  int decoupled; /* weight decay shrinks the parameter itself */
  int maximize;
  double momentum; /* 0: no buffer */
  double weight_decay;
} sign_sgd_dims;

#endif
