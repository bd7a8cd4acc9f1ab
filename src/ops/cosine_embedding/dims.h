/* Sizes and constants of cosine_embedding. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COSINE_EMBEDDING_DIMS_H_
#define THIMBLE_OPS_COSINE_EMBEDDING_DIMS_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/families/loss/loss_dims.h"

typedef struct cosine_embedding_dims {
  int rows;
  int size;        /* of a row */
  int divisor;     /* what the sum over rows is divided by, or LOSS_TERMS */
  int real_target; /* 1: targets are real; 0: int32 */
  double margin;
} cosine_embedding_dims;

#endif
