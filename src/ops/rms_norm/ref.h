#include "ops/families/norm/row_norm_dims.h"

/* y = x rstd gamma with rstd = 1 / sqrt(mean of x^2 + epsilon), row by row. x, y: [rows, size], y
   may be x; rstd: [rows]; gamma: [size] or NULL. */
static void rms_norm_ref(real* y, real* rstd, const real* x, const real* gamma,
                         const row_norm_dims* d) {
  const int n = d->size;
  for (int r = 0; r < d->rows; ++r, x += n, y += n) {
    real squares = 0;
    for (int i = 0; i < n; ++i) squares += x[i] * x[i];
    rstd[r] = 1 / sqrt((n > 0 ? squares / (real)n : 0) + (real)d->epsilon);
    for (int i = 0; i < n; ++i) y[i] = x[i] * rstd[r] * (gamma ? gamma[i] : 1);
  }
}

/* The same y from the statistics. y may be x. */
static void rms_norm_apply_ref(real* y, const real* x, const real* gamma, const real* rstd,
                               const row_norm_dims* d) {
  const int n = d->size;
  for (int r = 0; r < d->rows; ++r, x += n, y += n) {
    for (int i = 0; i < n; ++i) y[i] = x[i] * rstd[r] * (gamma ? gamma[i] : 1);
  }
}

/* With g = dy gamma and xhat = x rstd: dx = rstd (g - xhat mean of g xhat), dgamma = sum over rows
   of dy xhat. dx may be dy or x. */
static void rms_norm_grad_ref(real* dx, real* dgamma, const real* dy, const real* x,
                              const real* rstd, const real* gamma, const row_norm_dims* d) {
  const int n = d->size;
  for (int i = 0; i < n; ++i) dgamma[i] = 0;
  for (int r = 0; r < d->rows; ++r, x += n, dy += n, dx += n) {
    real product = 0;
    for (int i = 0; i < n; ++i) {
      const real xhat = x[i] * rstd[r];
      dgamma[i] += dy[i] * xhat;
      product += dy[i] * (gamma ? gamma[i] : 1) * xhat;
    }
    for (int i = 0; i < n; ++i) {
      const real g = dy[i] * (gamma ? gamma[i] : 1);
      dx[i] = rstd[r] * (g - x[i] * rstd[r] * product / (real)n);
    }
  }
}
