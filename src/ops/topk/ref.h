#include "ops/topk/dims.h"

/* Whether element i of a line comes before element j. */
static int topk_before(const real* line, int i, int j, const topk_dims* d) {
  const real a = line[(ptrdiff_t)i * d->along.inner];
  const real b = line[(ptrdiff_t)j * d->along.inner];
#ifndef THIMBLE_OF_INTEGERS
  const int a_nan = a != a;
  const int b_nan = b != b;
  if (a_nan || b_nan) return a_nan == b_nan ? i < j : d->largest ? a_nan : b_nan;
#endif
  return a == b ? i < j : d->largest ? a > b : a < b;
}

/* values, indices = the first k of each line in the order of topk_before. x: [outer, size, inner];
   values, indices: [outer, k, inner]. Each is the first of those that come after the one before. */
static void topk_ref(real* values, int32_t* indices, const real* x, const topk_dims* d) {
  for (int row = 0; row < d->along.outer * d->along.inner; ++row) {
    const ptrdiff_t column = row % d->along.inner;
    const ptrdiff_t outer = row / d->along.inner;
    const real* line = x + outer * d->along.size * d->along.inner + column;
    const ptrdiff_t to = outer * d->k * d->along.inner + column;
    int previous = -1;
    for (int rank = 0; rank < d->k; ++rank) {
      int best = -1;
      for (int i = 0; i < d->along.size; ++i) {
        if (previous >= 0 && !topk_before(line, previous, i, d)) continue;
        if (best < 0 || topk_before(line, i, best, d)) best = i;
      }
      values[to + (ptrdiff_t)rank * d->along.inner] = line[(ptrdiff_t)best * d->along.inner];
      indices[to + (ptrdiff_t)rank * d->along.inner] = best;
      previous = best;
    }
  }
}
