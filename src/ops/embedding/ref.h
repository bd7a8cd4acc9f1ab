/* The row of index i. */
static void embedding_row(real* y, const int32_t* indices, const real* weight, int i,
                          const embedding_dims* d) {
  const ptrdiff_t width = d->width;
  y += i * width;
  if (indices[i] >= 0 && indices[i] < d->rows) {
    const real* row = weight + indices[i] * width;
    for (ptrdiff_t c = 0; c < width; ++c) y[c] = row[c];
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
