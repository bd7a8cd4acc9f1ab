#include "ops/families/norm/batch_norm_dims.h"

/* Batch normalisation with running statistics:
   y[r,c] = act((x[r,c] - mean[c]) / sqrt(variance[c] + epsilon) * gamma[c] + beta[c]).
   x, y: [rows, channels], all others: [channels]; gamma and beta may be NULL (1 and 0).
   y may alias x. */
static void batch_norm_inference_ref(real* y, const real* x, const real* gamma, const real* beta,
                                     const real* mean, const real* variance,
                                     const batch_norm_dims* d) {
  const ptrdiff_t size = (ptrdiff_t)d->rows * d->channels;
  for (int c = 0; c < d->channels; ++c) {
    const real scale = (gamma ? gamma[c] : 1) / sqrt(variance[c] + d->epsilon);
    const real shift = beta ? beta[c] : 0;
    for (ptrdiff_t i = c; i < size; i += d->channels) {
      const real value = (x[i] - mean[c]) * scale + shift;
      y[i] = KERNEL_ACTIVATED(d->activation, value);
    }
  }
}
