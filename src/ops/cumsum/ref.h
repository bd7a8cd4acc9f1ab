#include "ops/cumsum/dims.h"

#ifdef THIMBLE_OF_INTEGERS
typedef wide cumsum_total;
#else
typedef double cumsum_total;
#endif

/* Running sums, of real numbers in double precision, of `columns` neighbouring lines (at most 64)
   along the axis from x and y on; y may be x. */
static void cumsum_lines(real* y, const real* x, int columns, const cumsum_dims* d) {
  cumsum_total sums[64] = {0};
  for (int i = 0; i < d->along.size; ++i) {
    const ptrdiff_t at = (ptrdiff_t)(d->reverse ? d->along.size - 1 - i : i) * d->along.inner;
    for (int c = 0; c < columns; ++c) {
      sums[c] += (cumsum_total)x[at + c];
      y[at + c] = (real)sums[c];
    }
  }
}

/* y[i] = the sum of x up to i along the axis. x, y: [outer, size, inner], y may be x. */
static void cumsum_ref(real* y, const real* x, const cumsum_dims* d) {
  const ptrdiff_t step = (ptrdiff_t)d->along.size * d->along.inner;
  for (int o = 0; o < d->along.outer; ++o) {
    for (int c = 0; c < d->along.inner; c += 64) {
      const int columns = d->along.inner - c < 64 ? d->along.inner - c : 64;
      cumsum_lines(y + o * step + c, x + o * step + c, columns, d);
    }
  }
}
