/* Sizes of the normalisations over the last dimensions. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_ROW_NORM_DIMS_H_
#define THIMBLE_OPS_COMMON_ROW_NORM_DIMS_H_

#include <stddef.h>

/* Tensors are [rows, size]: each row is normalised by itself. */
typedef struct {
  int rows;
  int size;
  float epsilon; /* added to the mean of squares */
} row_norm_dims;

#endif
