#include "ops/cosine_embedding/dims.h"

/* The target of a row: 1, -1, or 0 where the row does not count. */
static int cosine_target(const void* target, int row, const cosine_embedding_dims* d) {
  const real t = d->real_target ? ((const real*)target)[row] : (real)((const int32_t*)target)[row];
  return t == 1 ? 1 : t == -1 ? -1 : 0;
}

/* Squared lengths and the cosine of one pair. */
typedef struct {
  real a;
  real b;
  real cosine;
} cosine_pair;

static cosine_pair cosine_of(const real* a, const real* b, int size) {
  cosine_pair pair = {(real)1e-12, (real)1e-12, 0};
  for (int i = 0; i < size; ++i) {
    pair.a += a[i] * a[i];
    pair.b += b[i] * b[i];
    pair.cosine += a[i] * b[i];
  }
  pair.cosine /= sqrt(pair.a * pair.b);
  return pair;
}

/* The loss of one row. */
static real cosine_row(const real* a, const real* b, int target, const cosine_embedding_dims* d) {
  const real cosine = cosine_of(a, b, d->size).cosine;
  const real over = cosine - (real)d->margin;
  return target > 0 ? 1 - cosine : target < 0 && over > 0 ? over : 0;
}

/* y[0] = sum over rows of the loss, / divisor, or y[r] = the loss of row r. a, b: [rows, size];
 * target: [rows]. */
static void cosine_embedding_ref(real* y, const real* a, const real* b, const void* target,
                                 const cosine_embedding_dims* d) {
  real total = 0;
  for (int r = 0; r < d->rows; ++r) {
    const ptrdiff_t at = (ptrdiff_t)r * d->size;
    const real loss = cosine_row(a + at, b + at, cosine_target(target, r, d), d);
    if (d->divisor == LOSS_TERMS) y[r] = loss;
    total += loss;
  }
  if (d->divisor != LOSS_TERMS) y[0] = total / (real)d->divisor;
}

/* What the gradients of a row are multiplied by. */
static real cosine_embedding_scale(const real* dy, int row, const cosine_embedding_dims* d) {
  return LOSS_SCALE(dy, row, d);
}

/* The gradients of one row, times scale. */
static void cosine_embedding_grad_row(real* da, real* db, real scale, const real* a, const real* b,
                                      int target, const cosine_embedding_dims* d) {
  const cosine_pair pair = cosine_of(a, b, d->size);
  const int counts = target > 0 || (target < 0 && pair.cosine > (real)d->margin);
  const real by_cosine = !counts ? 0 : target > 0 ? -scale : scale;
  const real lengths = sqrt(pair.a * pair.b);
  for (int i = 0; i < d->size; ++i) {
    const real x = a[i];
    const real z = b[i];
    da[i] = by_cosine * (z / lengths - pair.cosine * x / pair.a);
    db[i] = by_cosine * (x / lengths - pair.cosine * z / pair.b);
  }
}

/* da, db = scale times the gradients of the rows' losses; da may be a, db may be b. */
static void cosine_embedding_grad_ref(real* da, real* db, const real* dy, const real* a,
                                      const real* b, const void* target,
                                      const cosine_embedding_dims* d) {
  for (int r = 0; r < d->rows; ++r) {
    const ptrdiff_t at = (ptrdiff_t)r * d->size;
    cosine_embedding_grad_row(da + at, db + at, cosine_embedding_scale(dy, r, d), a + at, b + at,
                              cosine_target(target, r, d), d);
  }
}
