#include "ops/triplet_margin/dims.h"

/* ||a - b + epsilon||_p. */
static real triplet_distance(const real* a, const real* b, const triplet_margin_dims* d) {
  real sum = 0;
  for (int i = 0; i < d->size; ++i) {
    const real off = a[i] - b[i] + (real)d->epsilon;
    sum += d->p == 2 ? off * off : pow(fabs(off), (real)d->p);
  }
  return d->p == 2 ? sqrt(sum) : pow(sum, (real)(1 / d->p));
}

/* Adds scale times the gradient of a distance to da and takes it from db. */
static void triplet_distance_grad(real* da, real* db, const real* a, const real* b, real distance,
                                  real scale, const triplet_margin_dims* d) {
  if (!(distance > 0)) return;
  for (int i = 0; i < d->size; ++i) {
    const real off = (a[i] - b[i] + (real)d->epsilon) / distance;
    real slope = off;
    if (d->p != 2) {
      slope = off == 0 ? 0 : pow(fabs(off), (real)(d->p - 1)) * (off < 0 ? -1 : 1);
    }
    da[i] += scale * slope;
    db[i] -= scale * slope;
  }
}

/* The loss of one row. */
static real triplet_row(const real* a, const real* p, const real* n, const triplet_margin_dims* d) {
  const real near = triplet_distance(a, p, d);
  real far = triplet_distance(a, n, d);
  if (d->swap) {
    const real other = triplet_distance(p, n, d);
    if (other < far) far = other;
  }
  const real loss = near - far + (real)d->margin;
  return loss < 0 ? 0 : loss;
}

/* y[0] = sum over rows of the loss, / divisor, or y[r] = the loss of row r. a, p, n: [rows, size].
 */
static void triplet_margin_ref(real* y, const real* a, const real* p, const real* n,
                               const triplet_margin_dims* d) {
  real total = 0;
  for (int r = 0; r < d->rows; ++r) {
    const ptrdiff_t at = (ptrdiff_t)r * d->size;
    const real loss = triplet_row(a + at, p + at, n + at, d);
    if (d->divisor == LOSS_TERMS) y[r] = loss;
    total += loss;
  }
  if (d->divisor != LOSS_TERMS) y[0] = total / (real)d->divisor;
}

/* What the gradients of a row are multiplied by. */
static real triplet_margin_scale(const real* dy, int row, const triplet_margin_dims* d) {
  return LOSS_SCALE(dy, row, d);
}

/* The gradients of row r, times scale. */
static void triplet_margin_grad_row(real* da, real* dp, real* dn, real scale, const real* a,
                                    const real* p, const real* n, const triplet_margin_dims* d) {
  for (int i = 0; i < d->size; ++i) da[i] = dp[i] = dn[i] = 0;
  const real near = triplet_distance(a, p, d);
  const real far = triplet_distance(a, n, d);
  const real other = d->swap ? triplet_distance(p, n, d) : far;
  const int swapped = other < far;
  if (near - (swapped ? other : far) + (real)d->margin <= 0) return;
  triplet_distance_grad(da, dp, a, p, near, scale, d);
  if (swapped) {
    triplet_distance_grad(dp, dn, p, n, other, -scale, d);
  } else {
    triplet_distance_grad(da, dn, a, n, far, -scale, d);
  }
}

/* da, dp, dn = scale times the gradients of the rows' losses. All: [rows, size]. */
static void triplet_margin_grad_ref(real* da, real* dp, real* dn, const real* dy, const real* a,
                                    const real* p, const real* n, const triplet_margin_dims* d) {
  for (int r = 0; r < d->rows; ++r) {
    const ptrdiff_t at = (ptrdiff_t)r * d->size;
    triplet_margin_grad_row(da + at, dp + at, dn + at, triplet_margin_scale(dy, r, d), a + at,
                            p + at, n + at, d);
  }
}
