/* The logarithm of the sum of exp(x) over n classes. */
static real log_sum_exp(const real* x, int n) {
  real largest = x[0];
  for (int c = 1; c < n; ++c) {
    if (x[c] > largest) largest = x[c];
  }
  real sum = 0;
  for (int c = 0; c < n; ++c) sum += exp(x[c] - largest);
  return largest + log(sum);
}

/* y[0] = sum over rows of the cross-entropy, / divisor. x: [rows, classes]; labels: class_dims. */
static void softmax_cross_entropy_ref(real* y, const real* x, const void* labels,
                                      const class_dims* d) {
  real total = 0;
  for (int row = 0; row < d->rows; ++row, x += d->classes) {
    const real level = log_sum_exp(x, d->classes);
    if (d->sparse) {
      const int32_t label = ((const int32_t*)labels)[row];
      const int known = label >= 0 && label < d->classes;
      total += known ? level - x[label] : (real)NAN;
    } else {
      const real* t = (const real*)labels + (ptrdiff_t)row * d->classes;
      for (int c = 0; c < d->classes; ++c) total += t[c] * (level - x[c]);
    }
  }
  y[0] = total / (real)d->divisor;
}

/* dx = dy[0] / divisor * (softmax(x) sum of t - t). dx: [rows, classes], may be x. */
static void softmax_cross_entropy_grad_ref(real* dx, const real* dy, const real* x,
                                           const void* labels, const class_dims* d) {
  const real scale = dy[0] / (real)d->divisor;
  for (int row = 0; row < d->rows; ++row, x += d->classes, dx += d->classes) {
    const real level = log_sum_exp(x, d->classes);
    if (d->sparse) {
      const int32_t label = ((const int32_t*)labels)[row];
      const int known = label >= 0 && label < d->classes;
      for (int c = 0; c < d->classes; ++c) dx[c] = known ? scale * exp(x[c] - level) : (real)NAN;
      if (known) dx[label] -= scale;
    } else {
      const real* t = (const real*)labels + (ptrdiff_t)row * d->classes;
      real sum = 0;
      for (int c = 0; c < d->classes; ++c) sum += t[c];
      for (int c = 0; c < d->classes; ++c) dx[c] = scale * (exp(x[c] - level) * sum - t[c]);
    }
  }
}
