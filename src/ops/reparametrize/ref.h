#include "ops/families/move/copy_dims.h"

/* z = mean + exp(logvar / 2) noise. All: [n]; z may alias any. */
static void reparametrize_ref(real* z, const real* mean, const real* logvar, const real* noise,
                              const copy_dims* d) {
  for (int i = 0; i < d->n; ++i) z[i] = mean[i] + exp(logvar[i] / 2) * noise[i];
}

/* dlogvar = dz (z - mean) / 2. All: [n]; dlogvar may alias any. */
static void reparametrize_grad_ref(real* dlogvar, const real* dz, const real* z, const real* mean,
                                   const copy_dims* d) {
  for (int i = 0; i < d->n; ++i) dlogvar[i] = dz[i] * (z[i] - mean[i]) / 2;
}
