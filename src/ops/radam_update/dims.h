/* Sizes and constants of radam_update. Plain C99. */
#ifndef THIMBLE_OPS_RADAM_UPDATE_DIMS_H_
#define THIMBLE_OPS_RADAM_UPDATE_DIMS_H_

#include "ops/families/binary/power.h"
#include "ops/families/math/double.h"

typedef struct radam_dims {
  int n;         /* elements */
  int decoupled; /* weight decay shrinks the parameter itself */
  int maximize;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
} radam_dims;

/* What one step does to every element alike. */
typedef struct radam_factors {
  double shrink;    /* of the parameter before anything else */
  double step_size; /* the rate, rectified and freed of bias */
  int adaptive;     /* divide by the root of the second moment */
} radam_factors;

/* step counts from 1. */
static inline radam_factors radam_factors_at(const radam_dims* d, double lr, int step) {
  const double kept2 = whole_power(d->beta2, step);
  const double longest = 2.0 / (1.0 - d->beta2) - 1.0;
  const double length = longest - 2.0 * step * kept2 / (1.0 - kept2);
  radam_factors f;
  f.shrink = d->decoupled ? 1.0 - lr * d->weight_decay : 1.0;
  f.step_size = lr / (1.0 - whole_power(d->beta1, step));
  f.adaptive = length > 5.0;
  if (f.adaptive) {
    f.step_size *= math_double_sqrt((length - 4.0) * (length - 2.0) * longest /
                                    ((longest - 4.0) * (longest - 2.0) * length) * (1.0 - kept2));
  }
  return f;
}

#endif
