/* Sizes and constants of softmax_cross_entropy. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_DIMS_H_
#define THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_DIMS_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/families/loss/loss_dims.h"

typedef struct cross_entropy_dims {
  int rows;
  int classes;
  int sparse;     /* 1: labels are class indices [rows], int32; 0: probabilities [rows, classes] */
  int weighted;   /* 1: the divisor is the weight of the rows that count */
  int divisor;    /* else this; LOSS_TERMS: the rows are not summed */
  int ignore;     /* the label of rows that count nothing, where labels are indices */
  int normalized; /* 1: the logits are logarithms of probabilities */
  double smoothing;
} cross_entropy_dims;

/* The class index of a row; CLASS_IGNORED or CLASS_UNKNOWN where there is none. */
enum { CLASS_IGNORED = -1, CLASS_UNKNOWN = -2 };
static inline int class_of(const void* labels, int row, const cross_entropy_dims* d) {
  const int32_t label = ((const int32_t*)labels)[row];
  if (label == d->ignore) return CLASS_IGNORED;
  return label >= 0 && label < d->classes ? label : CLASS_UNKNOWN;
}

#endif
