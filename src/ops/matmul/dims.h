#ifndef THIMBLE_OPS_MATMUL_DIMS_H_
#define THIMBLE_OPS_MATMUL_DIMS_H_

#include "simd/activation.h"

/* y = a b for `batch` row-major matrices. a: [batch, m, k], or [batch, k, m] if transpose_a;
   b: [batch, k, n], or [batch, n, k] if transpose_b; y: [batch, m, n].
   A dense layer is m = images, k = inputs, n = outputs with transpose_b (weights [out, in]). */
typedef struct matmul_dims {
  int batch;
  int m, n, k;
  int transpose_a, transpose_b; /* 0 or 1 */
  int broadcast_a, broadcast_b; /* 1: one matrix, without the batch dimension, serves every batch */
  int activation;               /* one of kernel_activation, applied to the finished output */
  int accumulate;               /* 1: what y held before is added (before the activation) */
  int is_matrix;                /* 1: y has two dimensions, its rows are those of the product */
  int a_rows;                   /* where m is a part of the rows of a: all of them; 0: m is all */
  int a_first;                  /* and the first row of the part; one matrix, no batch */
} matmul_dims;

#endif
