#include "ops/families/reduction/axis_dims.h"

/* One line of cummax (sign 1) and cummin (sign -1). */
static void cummax_line(real* values, int32_t* indices, const real* x, const axis_dims* d,
                        int sign) {
  real best = 0;
  int32_t place = 0;
  for (int i = 0; i < d->size; ++i) {
    const ptrdiff_t at = (ptrdiff_t)i * d->inner;
    const real v = x[at];
    const int better = sign > 0 ? v >= best : v <= best;
    if (i == 0 || v != v || (best == best && better)) {
      best = v;
      place = i;
    }
    values[at] = best;
    indices[at] = place;
  }
}

static ptrdiff_t cummax_start(ptrdiff_t line, const axis_dims* d) {
  return line / d->inner * d->size * d->inner + line % d->inner;
}

/* Line number `line` of [outer, inner]. */
static void cummax_part(real* values, int32_t* indices, const real* x, ptrdiff_t line,
                        const axis_dims* d) {
  const ptrdiff_t at = cummax_start(line, d);
  cummax_line(values + at, indices + at, x + at, d, 1);
}
static void cummin_part(real* values, int32_t* indices, const real* x, ptrdiff_t line,
                        const axis_dims* d) {
  const ptrdiff_t at = cummax_start(line, d);
  cummax_line(values + at, indices + at, x + at, d, -1);
}

/* x, values, indices: [outer, size, inner]; values may be x. */
static void cummax_ref(real* values, int32_t* indices, const real* x, const axis_dims* d) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t)d->outer * d->inner; ++i) {
    cummax_part(values, indices, x, i, d);
  }
}
static void cummin_ref(real* values, int32_t* indices, const real* x, const axis_dims* d) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t)d->outer * d->inner; ++i) {
    cummin_part(values, indices, x, i, d);
  }
}
