/* y = exp(x) / sum over the axis of exp(x). x, y: [outer, size, inner], y may be x. */
static void softmax_ref(real* y, const real* x, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real largest = x[at];
    for (int c = 1; c < d->size; ++c) {
      if (x[at + c * step] > largest) largest = x[at + c * step];
    }
    real sum = 0;
    for (int c = 0; c < d->size; ++c) {
      const real value = exp(x[at + c * step] - largest);
      y[at + c * step] = value;
      sum += value;
    }
    for (int c = 0; c < d->size; ++c) y[at + c * step] /= sum;
  }
}

/* dx = y (dy - sum over the axis of dy y). All: [outer, size, inner]; dx may be dy or y. */
static void softmax_grad_ref(real* dx, const real* dy, const real* y, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    real sum = 0;
    for (int c = 0; c < d->size; ++c) sum += dy[at + c * step] * y[at + c * step];
    for (int c = 0; c < d->size; ++c) {
      dx[at + c * step] = y[at + c * step] * (dy[at + c * step] - sum);
    }
  }
}
