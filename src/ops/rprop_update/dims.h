/* Sizes and constants of rprop_update. Plain C99. */
#ifndef THIMBLE_OPS_RPROP_UPDATE_DIMS_H_
#define THIMBLE_OPS_RPROP_UPDATE_DIMS_H_

typedef struct rprop_dims {
  int n; /* elements */
  int maximize;
  double eta_minus;
  double eta_plus;
  double smallest; /* of the steps' sizes */
  double largest;
} rprop_dims;

#endif
