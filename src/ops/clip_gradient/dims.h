#ifndef THIMBLE_OPS_CLIP_GRADIENT_DIMS_H_
#define THIMBLE_OPS_CLIP_GRADIENT_DIMS_H_

#include "ops/families/math/double.h"

/* Sizes and constants of sum_squares, clip_by_norm and clip_by_value. Plain C99. */
typedef struct clip_dims {
  int n;        /* elements */
  double limit; /* of the norm, or of every element */
} clip_dims;

/* The factor that brings a norm down to the largest one allowed; NaN where the norm is. */
static inline double clip_norm_factor(const clip_dims* d, double squares) {
  const double factor = d->limit / (math_double_sqrt(squares) + 1e-6);
  return factor > 1.0 ? 1.0 : factor;
}

#endif
