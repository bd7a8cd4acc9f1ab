/* Sizes of ops that compare rows of class scores with labels. Plain C99: also emitted. */
#ifndef THIMBLE_OPS_COMMON_CLASS_DIMS_H
#define THIMBLE_OPS_COMMON_CLASS_DIMS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  int rows;
  int classes;
  int sparse;  /* 1: labels are class indices [rows], int32; 0: probabilities [rows, classes], real
                */
  int divisor; /* what the sum over rows is divided by */
  int k;       /* how many guesses count */
} class_dims;

#endif
