#include "ops/local_response_norm/dims.h"

/* s = k + scale * sum of x^2 over the window of channel c. x: [channels]. */
static real local_response(const real* x, int c, const local_response_norm_dims* d) {
  const int begin = c > d->before ? c - d->before : 0;
  const int end = c < d->channels - d->after ? c + d->after + 1 : d->channels;
  real sum = 0;
  for (int j = begin; j < end; ++j) sum += x[j] * x[j];
  return (real)d->k + (real)d->scale * sum;
}

/* y = x / s^beta. x, y: [rows, channels]; nothing aliases. */
static void local_response_norm_ref(real* y, const real* x, const local_response_norm_dims* d) {
  for (int r = 0; r < d->rows; ++r, x += d->channels, y += d->channels) {
    for (int c = 0; c < d->channels; ++c) {
      y[c] = x[c] * pow(local_response(x, c, d), (real)-d->beta);
    }
  }
}

/* dx[c] = dy[c] / s[c]^beta - 2 beta scale x[c] * sum of dy[j] x[j] / s[j]^(beta + 1) over the
   channels j whose window holds c. dx, dy, x: [rows, channels]; nothing aliases. */
static void local_response_norm_grad_ref(real* dx, const real* dy, const real* x,
                                         const local_response_norm_dims* d) {
  const real slope = (real)(-2 * d->beta * d->scale);
  for (int r = 0; r < d->rows; ++r, x += d->channels, dy += d->channels, dx += d->channels) {
    for (int c = 0; c < d->channels; ++c) dx[c] = 0;
    for (int j = 0; j < d->channels; ++j) {
      const real s = local_response(x, j, d);
      const real power = pow(s, (real)-d->beta);
      const int begin = j > d->before ? j - d->before : 0;
      const int end = j < d->channels - d->after ? j + d->after + 1 : d->channels;
      dx[j] += dy[j] * power;
      for (int c = begin; c < end; ++c) dx[c] += slope * dy[j] * x[j] * power / s * x[c];
    }
  }
}
