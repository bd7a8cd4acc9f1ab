/* Sizes of cast. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_CAST_DIMS_H
#define THIMBLE_OPS_CAST_DIMS_H

#include <stddef.h>
#include <stdint.h>

enum { CAST_REAL, CAST_I32, CAST_U32, CAST_I8, CAST_U8 };

typedef struct {
  int n;
  int from; /* one of the above */
  int to;
} cast_dims;

#endif
