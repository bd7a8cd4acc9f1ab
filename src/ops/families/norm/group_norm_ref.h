/* Normalisation of groups, for a ref.h to include. Plain C99: also emitted for devices. */
#include "ops/families/norm/group_norm_dims.h"

/* y = (x - mean) / sqrt(variance + epsilon) gamma + beta with the mean and (biased) variance of
   each group of channels over all positions of an image. x, y: [images, positions, channels], y may
   be x; mean, variance: [images, groups]; gamma, beta: [channels] or NULL. */
static void normalise_groups_ref(real* y, real* mean, real* variance, const real* x,
                                 const real* gamma, const real* beta, const group_norm_dims* d) {
  const int width = d->groups > 0 ? d->channels / d->groups : 0;
  const ptrdiff_t step = (ptrdiff_t)d->positions * d->channels;
  const real count = (real)d->positions * (real)width;
  for (int n = 0; n < d->images; ++n) {
    for (int g = 0; g < d->groups; ++g) {
      const ptrdiff_t begin = n * step + (ptrdiff_t)g * width;
      const ptrdiff_t end = (n + 1) * step;
      real sum = 0;
      for (ptrdiff_t at = begin; at < end; at += d->channels) {
        for (int c = 0; c < width; ++c) sum += x[at + c];
      }
      const real center = count > 0 ? sum / count : 0;
      real squares = 0;
      for (ptrdiff_t at = begin; at < end; at += d->channels) {
        for (int c = 0; c < width; ++c) squares += (x[at + c] - center) * (x[at + c] - center);
      }
      const real spread = count > 0 ? squares / count : 0;
      const real inverse = 1 / sqrt(spread + (real)d->epsilon);
      for (ptrdiff_t at = begin; at < end; at += d->channels) {
        for (int c = 0; c < width; ++c) {
          const int channel = g * width + c;
          y[at + c] = (x[at + c] - center) * inverse * (gamma ? gamma[channel] : 1) +
                      (beta ? beta[channel] : 0);
        }
      }
      mean[n * d->groups + g] = center;
      variance[n * d->groups + g] = spread;
    }
  }
}
