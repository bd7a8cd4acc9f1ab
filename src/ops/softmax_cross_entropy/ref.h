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

/* What the sum over rows is divided by. weight: [classes] or NULL. */
static real cross_entropy_divisor(const void* labels, const real* weight,
                                  const cross_entropy_dims* d) {
  if (!d->weighted) return (real)d->divisor;
  real sum = 0;
  for (int row = 0; row < d->rows; ++row) {
    const int label = class_of(labels, row, d);
    if (label != CLASS_IGNORED) sum += weight && label >= 0 ? weight[label] : 1;
  }
  return sum;
}

/* What class c of a row counts. label: its class; t: its probabilities, where labels are those. */
static real cross_entropy_target(int c, int label, const real* t, const real* weight,
                                 const cross_entropy_dims* d) {
  const real smoothing = (real)d->smoothing;
  const real own = d->sparse ? c == label : t[c];
  return (weight ? weight[c] : 1) * ((1 - smoothing) * own + smoothing / (real)d->classes);
}

/* y[0] = sum over rows of the cross-entropy, / divisor. x: [rows, classes]; labels: see the dims;
   weight: [classes] or NULL. */
static void softmax_cross_entropy_ref(real* y, const real* x, const void* labels,
                                      const real* weight, const cross_entropy_dims* d) {
  real total = 0;
  for (int row = 0; row < d->rows; ++row, x += d->classes) {
    const int label = d->sparse ? class_of(labels, row, d) : 0;
    const real* t = d->sparse ? NULL : (const real*)labels + (ptrdiff_t)row * d->classes;
    if (label == CLASS_IGNORED) continue;
    const real level = label == CLASS_UNKNOWN ? (real)NAN : log_sum_exp(x, d->classes);
    for (int c = 0; c < d->classes; ++c) {
      const real target = cross_entropy_target(c, label, t, weight, d);
      if (target != 0 || level != level) total += target * (level - x[c]);
    }
  }
  y[0] = total / cross_entropy_divisor(labels, weight, d);
}

/* dx = dy[0] / divisor * (softmax(x) sum of t - t), t what the classes count. dx: [rows, classes],
   may be x. */
static void softmax_cross_entropy_grad_ref(real* dx, const real* dy, const real* x,
                                           const void* labels, const real* weight,
                                           const cross_entropy_dims* d) {
  const real scale = dy[0] / cross_entropy_divisor(labels, weight, d);
  for (int row = 0; row < d->rows; ++row, x += d->classes, dx += d->classes) {
    const int label = d->sparse ? class_of(labels, row, d) : 0;
    const real* t = d->sparse ? NULL : (const real*)labels + (ptrdiff_t)row * d->classes;
    if (label < 0) {
      for (int c = 0; c < d->classes; ++c) dx[c] = label == CLASS_IGNORED ? 0 : (real)NAN;
      continue;
    }
    const real level = log_sum_exp(x, d->classes);
    real sum = 0;
    for (int c = 0; c < d->classes; ++c) sum += cross_entropy_target(c, label, t, weight, d);
    for (int c = 0; c < d->classes; ++c) {
      dx[c] = scale * (exp(x[c] - level) * sum - cross_entropy_target(c, label, t, weight, d));
    }
  }
}
