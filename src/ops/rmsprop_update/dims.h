#ifndef THIMBLE_OPS_RMSPROP_UPDATE_DIMS_H_
#define THIMBLE_OPS_RMSPROP_UPDATE_DIMS_H_

/* Sizes and constants of rmsprop_update. Plain C99. */
typedef struct rmsprop_dims {
  int n; /* elements */
  int centered;
  int maximize;
  int epsilon_inside_root;
  double alpha;
  double epsilon;
  double momentum; /* 0: no buffer */
  double weight_decay;
} rmsprop_dims;

#endif
