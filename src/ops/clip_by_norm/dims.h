#ifndef THIMBLE_OPS_CLIP_BY_NORM_DIMS_H_
#define THIMBLE_OPS_CLIP_BY_NORM_DIMS_H_

#include <math.h>

/* Sizes and constants of sum_squares and clip_by_norm. Plain C99. */
typedef struct clip_norm_dims {
  int n; /* elements */
  double max_norm;
} clip_norm_dims;

/* The factor that brings a norm down to the largest one allowed; NaN where the norm is. */
static inline double clip_norm_factor(const clip_norm_dims* d, double squares) {
  const double factor = d->max_norm / (sqrt(squares) + 1e-6);
  return factor > 1.0 ? 1.0 : factor;
}

#endif
