/* Sizes of cast. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_CAST_DIMS_H
#define THIMBLE_OPS_CAST_DIMS_H

#include <stddef.h>
#include <stdint.h>

#include "ir/element.h"

typedef struct {
  int n;
  int bytes; /* of y */
  int from;  /* ELEMENT_F32, ... */
  int to;
} cast_dims;

#endif
