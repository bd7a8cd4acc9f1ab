#include "ops/families/loss/class_dims.h"

#ifdef THIMBLE_OF_INTEGERS
typedef real one_hot_label;
typedef float one_hot_real;
#else
typedef int32_t one_hot_label;
typedef real one_hot_real;
#endif

/* y[row, c] = 1 where c = x[row], else 0. x: [rows]; y: [rows, classes]. */
static void one_hot_ref(one_hot_real* y, const one_hot_label* x, const class_dims* d) {
  for (int row = 0; row < d->rows; ++row, y += d->classes) {
    for (int c = 0; c < d->classes; ++c) y[c] = (int64_t)x[row] == c;
  }
}
