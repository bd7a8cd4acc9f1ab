#include "ops/families/norm/row_norm_dims.h"

/* y = (x - mean) rstd gamma + beta with rstd = 1 / sqrt(variance + epsilon), row by row. x, y:
   [rows, size], y may be x; mean, rstd: [rows]; gamma, beta: [size] or NULL. */
static void layer_norm_ref(real* y, real* mean, real* rstd, const real* x, const real* gamma,
                           const real* beta, const row_norm_dims* d) {
  const int n = d->size;
  for (int r = 0; r < d->rows; ++r, x += n, y += n) {
    real sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    const real center = n > 0 ? sum / (real)n : 0;
    real squares = 0;
    for (int i = 0; i < n; ++i) squares += (x[i] - center) * (x[i] - center);
    mean[r] = center;
    rstd[r] = 1 / sqrt((n > 0 ? squares / (real)n : 0) + (real)d->epsilon);
    for (int i = 0; i < n; ++i) {
      y[i] = (x[i] - center) * rstd[r] * (gamma ? gamma[i] : 1) + (beta ? beta[i] : 0);
    }
  }
}

/* The same y from the statistics. y may be x. */
static void layer_norm_apply_ref(real* y, const real* x, const real* gamma, const real* beta,
                                 const real* mean, const real* rstd, const row_norm_dims* d) {
  const int n = d->size;
  for (int r = 0; r < d->rows; ++r, x += n, y += n) {
    for (int i = 0; i < n; ++i) {
      y[i] = (x[i] - mean[r]) * rstd[r] * (gamma ? gamma[i] : 1) + (beta ? beta[i] : 0);
    }
  }
}

/* With g = dy gamma and xhat = (x - mean) rstd: dx = rstd (g - mean of g - xhat mean of g xhat),
   dgamma = sum over rows of dy xhat, dbeta = sum over rows of dy. dx may be dy or x. */
static void layer_norm_grad_ref(real* dx, real* dgamma, real* dbeta, const real* dy, const real* x,
                                const real* mean, const real* rstd, const real* gamma,
                                const row_norm_dims* d) {
  const int n = d->size;
  for (int i = 0; i < n; ++i) dgamma[i] = dbeta[i] = 0;
  for (int r = 0; r < d->rows; ++r, x += n, dy += n, dx += n) {
    real sum = 0;
    real product = 0;
    for (int i = 0; i < n; ++i) {
      const real xhat = (x[i] - mean[r]) * rstd[r];
      const real g = dy[i] * (gamma ? gamma[i] : 1);
      dgamma[i] += dy[i] * xhat;
      dbeta[i] += dy[i];
      sum += g;
      product += g * xhat;
    }
    for (int i = 0; i < n; ++i) {
      const real xhat = (x[i] - mean[r]) * rstd[r];
      const real g = dy[i] * (gamma ? gamma[i] : 1);
      dx[i] = rstd[r] * (g - (sum + xhat * product) / (real)n);
    }
  }
}
