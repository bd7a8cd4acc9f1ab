/* Sizes of embedding. Plain C99. */
#ifndef THIMBLE_OPS_EMBEDDING_DIMS_H_
#define THIMBLE_OPS_EMBEDDING_DIMS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct embedding_dims {
  int count;        /* indices */
  int rows;         /* of the weight */
  int width;        /* of a row */
  int padding;      /* -1: none */
  double max_norm;  /* of a row that is read; 0: any */
  double norm_type; /* the p of the norm */
} embedding_dims;

#endif
