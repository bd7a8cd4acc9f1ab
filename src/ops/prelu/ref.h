/* y = x where x > 0, else weight x. x, y: [rows, channels], y may be x; weight: [channels]. */
static void prelu_ref(real* y, const real* x, const real* weight, const prelu_dims* d) {
  ptrdiff_t at = 0;
  for (int r = 0; r < d->rows; ++r) {
    for (int c = 0; c < d->channels; ++c, ++at) y[at] = x[at] > 0 ? x[at] : weight[c] * x[at];
  }
}

/* dx = dy where x > 0, else weight dy; dweight = sum of dy x over x <= 0. dx may be dy or x. */
static void prelu_grad_ref(real* dx, real* dweight, const real* dy, const real* x,
                           const real* weight, const prelu_dims* d) {
  for (int c = 0; c < d->channels; ++c) {
    real sum = 0;
    for (int r = 0; r < d->rows; ++r) {
      const ptrdiff_t at = (ptrdiff_t)r * d->channels + c;
      if (!(x[at] > 0)) sum += dy[at] * x[at];
      dx[at] = x[at] > 0 ? dy[at] : weight[c] * dy[at];
    }
    dweight[c] = sum;
  }
}
