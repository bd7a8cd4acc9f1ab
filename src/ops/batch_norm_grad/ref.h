#include "ops/families/norm/batch_norm_dims.h"

/* Gradient of batch_norm, through its statistics. With n = rows, d = epsilon,
   xhat = (x - mean) / sqrt(variance + d):
   dbeta[c] = sum_r dy[r,c], dgamma[c] = sum_r dy[r,c] xhat[r,c],
   dx[r,c] = gamma[c] / sqrt(variance[c] + d) * (dy[r,c] - dbeta[c] / n - xhat[r,c] dgamma[c] / n).
   dy, x, dx: [rows, channels], all others: [channels]; gamma may be NULL (1). dx may alias dy or x.
   Source: Ioffe and Szegedy, "Batch normalization", 2015, section 3. */
static void batch_norm_grad_ref(real* dx, real* dgamma, real* dbeta, const real* dy, const real* x,
                                const real* mean, const real* variance, const real* gamma,
                                const batch_norm_dims* d) {
  const ptrdiff_t size = (ptrdiff_t)d->rows * d->channels;
  for (int c = 0; c < d->channels; ++c) {
    const real inverse = 1 / sqrt(variance[c] + d->epsilon);
    real sum = 0;
    real product = 0;
    for (ptrdiff_t i = c; i < size; i += d->channels) {
      sum += dy[i];
      product += dy[i] * (x[i] - mean[c]);
    }
    dbeta[c] = sum;
    dgamma[c] = product * inverse;
    const real scale = (gamma ? gamma[c] : 1) * inverse;
    for (ptrdiff_t i = c; i < size; i += d->channels) {
      const real xhat = (x[i] - mean[c]) * inverse;
      dx[i] = scale * (dy[i] - (dbeta[c] + xhat * dgamma[c]) / (real)d->rows);
    }
  }
}
