#include "ops/softmax_cross_entropy/dims.h"

/* The logarithm of the sum of exp(x) over the classes. */
static real log_sum_exp(const real* x, const cross_entropy_dims* d) {
  const int n = d->classes;
  if (d->normalized) return 0;
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

/* y[0] = sum over rows of the cross-entropy, / divisor, or y[row] = that of a row. x: [rows,
   classes]; labels: see the dims; weight: [classes] or NULL. */
static void softmax_cross_entropy_ref(real* y, const real* x, const void* labels,
                                      const real* weight, const cross_entropy_dims* d) {
  real total = 0;
  for (int row = 0; row < d->rows; ++row, x += d->classes) {
    const int label = d->sparse ? class_of(labels, row, d) : 0;
    const real* t = d->sparse ? NULL : (const real*)labels + (ptrdiff_t)row * d->classes;
    real loss = 0;
    if (d->divisor == LOSS_TERMS) y[row] = 0;
    if (label == CLASS_IGNORED) continue;
    const real level = label == CLASS_UNKNOWN ? (real)NAN : log_sum_exp(x, d);
    for (int c = 0; c < d->classes; ++c) {
      const real target = cross_entropy_target(c, label, t, weight, d);
      if (target != 0 || level != level) loss += target * (level - x[c]);
    }
    if (d->divisor == LOSS_TERMS) y[row] = loss;
    total += loss;
  }
  if (d->divisor != LOSS_TERMS) y[0] = total / cross_entropy_divisor(labels, weight, d);
}

/* dx = scale * (softmax(x) sum of t - t), t what the classes count. dx: [rows, classes],
   may be x. */
static void softmax_cross_entropy_grad_ref(real* dx, const real* dy, const real* x,
                                           const void* labels, const real* weight,
                                           const cross_entropy_dims* d) {
  const int terms = d->divisor == LOSS_TERMS;
  const real shared = terms ? 0 : dy[0] / cross_entropy_divisor(labels, weight, d);
  for (int row = 0; row < d->rows; ++row, x += d->classes, dx += d->classes) {
    const real scale = terms ? dy[row] : shared;
    const int label = d->sparse ? class_of(labels, row, d) : 0;
    const real* t = d->sparse ? NULL : (const real*)labels + (ptrdiff_t)row * d->classes;
    if (label < 0) {
      for (int c = 0; c < d->classes; ++c) dx[c] = label == CLASS_IGNORED ? 0 : (real)NAN;
      continue;
    }
    const real level = log_sum_exp(x, d);
    real sum = 0;
    for (int c = 0; c < d->classes; ++c) sum += cross_entropy_target(c, label, t, weight, d);
    for (int c = 0; c < d->classes; ++c) {
      const real share = d->normalized ? 0 : exp(x[c] - level) * sum;
      dx[c] = scale * (share - cross_entropy_target(c, label, t, weight, d));
    }
  }
}

/* dt = scale * weight (1 - smoothing) (the logarithm of the sum of exp(x) - x), of labels that are
   probabilities. dt: [rows, classes], may be x. */
static void softmax_cross_entropy_target_grad_ref(real* dt, const real* dy, const real* x,
                                                  const real* weight, const cross_entropy_dims* d) {
  for (int row = 0; row < d->rows; ++row, x += d->classes, dt += d->classes) {
    const real scale = LOSS_SCALE(dy, row, d) * (1 - (real)d->smoothing);
    const real level = log_sum_exp(x, d);
    for (int c = 0; c < d->classes; ++c) dt[c] = scale * (weight ? weight[c] : 1) * (level - x[c]);
  }
}
