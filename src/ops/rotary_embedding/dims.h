/* Sizes of rotary embedding. Plain C99. */
#ifndef THIMBLE_OPS_ROTARY_EMBEDDING_DIMS_H_
#define THIMBLE_OPS_ROTARY_EMBEDDING_DIMS_H_

#include <stddef.h>

typedef struct rotary_dims {
  int rows; /* batch times steps */
  int steps;
  int heads;
  int width; /* of a head */
  int pairs; /* that turn */
  int interleaved;
  int inverse;
} rotary_dims;

#endif
