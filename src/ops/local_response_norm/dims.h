/* Sizes of local response normalisation. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_LOCAL_RESPONSE_NORM_DIMS_H_
#define THIMBLE_OPS_LOCAL_RESPONSE_NORM_DIMS_H_

#include <stddef.h>

typedef struct local_response_norm_dims {
  int rows;
  int channels;
  int before;   /* channels of the window before its own */
  int after;    /* and after it */
  double scale; /* alpha / size */
  double beta;
  double k;
} local_response_norm_dims;

#endif
