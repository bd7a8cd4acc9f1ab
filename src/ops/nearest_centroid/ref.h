#include "ops/nearest_centroid/dims.h"

/* The scores of one row: y[c] = -|x - sums[c] / counts[c]|^2, minus infinity where counts[c] is 0.
   x: [size]; sums: [classes, size]; counts, y: [classes]. */
static void nearest_centroid_row(real* y, const real* x, const real* sums, const real* counts,
                                 const nearest_centroid_dims* d) {
  for (int c = 0; c < d->classes; ++c, sums += d->size) {
    const real share = 1 / counts[c];
    real distance = 0;
    for (int i = 0; counts[c] > 0 && i < d->size; ++i) {
      const real off = x[i] - sums[i] * share;
      distance += off * off;
    }
    y[c] = counts[c] > 0 ? -distance : -(real)INFINITY;
  }
}

/* x: [rows, size], y: [rows, classes]. */
static void nearest_centroid_ref(real* y, const real* x, const real* sums, const real* counts,
                                 const nearest_centroid_dims* d) {
  for (int r = 0; r < d->rows; ++r) {
    nearest_centroid_row(y + (ptrdiff_t)r * d->classes, x + (ptrdiff_t)r * d->size, sums, counts,
                         d);
  }
}

/* Adds each row of x and 1 to the sums and the count of its class. x: [rows, size]; labels: [rows];
   new_sums, sums: [classes, size] and new_counts, counts: [classes], each pair may be the
   same memory. */
static void nearest_centroid_update_ref(real* new_sums, real* new_counts, const real* sums,
                                        const real* counts, const real* x, const int32_t* labels,
                                        const nearest_centroid_dims* d) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t)d->classes * d->size; ++i) new_sums[i] = sums[i];
  for (int c = 0; c < d->classes; ++c) new_counts[c] = counts[c];
  for (int r = 0; r < d->rows; ++r, x += d->size) {
    const int32_t c = labels[r];
    if (c < 0 || c >= d->classes) continue;
    for (int i = 0; i < d->size; ++i) new_sums[(ptrdiff_t)c * d->size + i] += x[i];
    new_counts[c] += 1;
  }
}
