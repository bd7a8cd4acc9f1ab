/* y = exp(x) / sum over classes of exp(x). x, y: [outer, classes, inner], y may be x. */
static void softmax_ref(real* y, const real* x, const softmax_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->classes * step + row % d->inner;
    real largest = x[at];
    for (int c = 1; c < d->classes; ++c) {
      if (x[at + c * step] > largest) largest = x[at + c * step];
    }
    real sum = 0;
    for (int c = 0; c < d->classes; ++c) {
      const real value = exp(x[at + c * step] - largest);
      y[at + c * step] = value;
      sum += value;
    }
    for (int c = 0; c < d->classes; ++c) y[at + c * step] /= sum;
  }
}

/* dx = y (dy - sum over classes of dy y). All: [outer, classes, inner]; dx may be dy or y. */
static void softmax_grad_ref(real* dx, const real* dy, const real* y, const softmax_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const ptrdiff_t at = (ptrdiff_t)(row / d->inner) * d->classes * step + row % d->inner;
    real sum = 0;
    for (int c = 0; c < d->classes; ++c) sum += dy[at + c * step] * y[at + c * step];
    for (int c = 0; c < d->classes; ++c) {
      dx[at + c * step] = y[at + c * step] * (dy[at + c * step] - sum);
    }
  }
}
