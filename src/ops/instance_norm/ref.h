#include "ops/families/norm/group_norm_dims.h"
#include "ops/families/norm/group_norm_ref.h"

/* As normalise_groups_ref with one channel a group; the running statistics are read at inference
   alone, by another op. */
static void instance_norm_ref(real* y, real* mean, real* variance, const real* x, const real* gamma,
                              const real* beta, const real* running_mean, const real* running_var,
                              const group_norm_dims* d) {
  (void)running_mean;
  (void)running_var;
  normalise_groups_ref(y, mean, variance, x, gamma, beta, d);
}

/* running += momentum (mean over images of the statistic - running), the variance made unbiased.
   mean, variance: [images, channels]; all others: [channels], new_* may be running_*. */
static void instance_norm_update_ref(real* new_mean, real* new_var, const real* running_mean,
                                     const real* running_var, const real* mean,
                                     const real* variance, const group_norm_dims* d) {
  const real momentum = (real)d->momentum;
  const real unbiased = (real)d->positions / (real)(d->positions - 1);
  for (int c = 0; c < d->channels; ++c) {
    real means = 0;
    real variances = 0;
    for (int n = 0; n < d->images; ++n) {
      means += mean[n * d->channels + c];
      variances += variance[n * d->channels + c];
    }
    if (d->images > 0) {
      means /= (real)d->images;
      variances *= unbiased / (real)d->images;
    }
    new_mean[c] = (1 - momentum) * running_mean[c] + momentum * means;
    new_var[c] = (1 - momentum) * running_var[c] + momentum * variances;
  }
}
