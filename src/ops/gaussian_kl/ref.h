/* x: mean, t: logarithm of the variance. */
LOSS_REF(gaussian_kl, (x * x + (expm1(t) - t)) / 2)

/* dmean, dlogvar, mean, logvar: [n]; dy: [1]. dmean may alias mean, dlogvar logvar. */
static void gaussian_kl_grad_ref(real* dmean, real* dlogvar, const real* dy, const real* mean,
                                 const real* logvar, const loss_dims* d) {
  const real scale = dy[0] / (real)d->divisor;
  for (int i = 0; i < d->n; ++i) {
    dmean[i] = scale * mean[i];
    dlogvar[i] = scale * (expm1(logvar[i]) / 2);
  }
}
