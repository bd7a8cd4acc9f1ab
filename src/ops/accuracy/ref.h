#include "ops/families/loss/class_dims.h"

/* y[0] = share of rows whose label is among the k highest scores. x: [rows, classes]; labels: see
   class_dims. */
static void accuracy_ref(real* y, const real* x, const void* labels, const class_dims* d) {
  int right = 0;
  for (int row = 0; row < d->rows; ++row, x += d->classes) {
    int label = 0;
    if (d->sparse) {
      label = ((const int32_t*)labels)[row];
      if (label < 0 || label >= d->classes) continue;
    } else {
      const real* t = (const real*)labels + (ptrdiff_t)row * d->classes;
      for (int c = 1; c < d->classes; ++c) {
        if (t[c] > t[label]) label = c;
      }
    }
    int better = 0;
    for (int c = 0; c < d->classes; ++c) {
      better += x[c] > x[label] || (x[c] == x[label] && c < label);
    }
    right += better < d->k && x[label] == x[label];
  }
  y[0] = (real)right / (real)d->rows;
}
