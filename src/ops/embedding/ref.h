#include "ops/embedding/dims.h"

/* What a row is multiplied by, so that its norm is at most max_norm. The divisor is PyTorch's. */
static real embedding_factor(const real* row, const embedding_dims* d) {
  const real p = (real)d->norm_type;
  real norm = 0;
  if (d->max_norm == 0) return 1;
  for (int c = 0; c < d->width; ++c) norm += (real)pow(fabs(row[c]), p);
  norm = (real)pow(norm, 1 / p);
  return norm > (real)d->max_norm ? (real)d->max_norm / (norm + (real)1e-7) : (real)1;
}

/* The row of index i. */
static void embedding_row(real* y, const int32_t* indices, const real* weight, int i,
                          const embedding_dims* d) {
  const ptrdiff_t width = d->width;
  y += i * width;
  if (indices[i] >= 0 && indices[i] < d->rows) {
    const real* row = weight + indices[i] * width;
    const real factor = embedding_factor(row, d);
    for (ptrdiff_t c = 0; c < width; ++c) y[c] = factor * row[c];
  } else {
    for (ptrdiff_t c = 0; c < width; ++c) y[c] = (real)NAN;
  }
}

/* y: [count, width], indices: [count], weight: [rows, width]; no aliasing. */
static void embedding_ref(real* y, const int32_t* indices, const real* weight,
                          const embedding_dims* d) {
  for (int i = 0; i < d->count; ++i) embedding_row(y, indices, weight, i, d);
}

/* The rows [begin, end) of dw: the sums of the rows of dy that were taken from each. */
static void embedding_grad_rows(real* dw, const real* dy, const int32_t* indices, int begin,
                                int end, const embedding_dims* d) {
  const ptrdiff_t width = d->width;
  for (ptrdiff_t at = begin * width; at < end * width; ++at) dw[at] = 0;
  for (int i = 0; i < d->count; ++i) {
    if (indices[i] < begin || indices[i] >= end || indices[i] == d->padding) continue;
    real* to = dw + indices[i] * width;
    const real* from = dy + i * width;
    for (ptrdiff_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

/* dw: [rows, width], dy: [count, width]. */
static void embedding_grad_ref(real* dw, const real* dy, const int32_t* indices,
                               const embedding_dims* d) {
  embedding_grad_rows(dw, dy, indices, 0, d->rows, d);
}

/* Shortens the rows that are read. out: [rows, width], the weight's memory or a copy of it. Reading
   a row several times changes nothing more. */
static void embedding_renorm_ref(real* out, const real* weight, const int32_t* indices,
                                 const embedding_dims* d) {
  (void)weight;
  for (int i = 0; i < d->count; ++i) {
    if (indices[i] < 0 || indices[i] >= d->rows) continue;
    real* row = out + indices[i] * (ptrdiff_t)d->width;
    const real factor = embedding_factor(row, d);
    for (int c = 0; factor != 1 && c < d->width; ++c) row[c] *= factor;
  }
}
