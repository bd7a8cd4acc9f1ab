#include "ops/families/norm/group_norm_dims.h"
#include "ops/families/norm/group_norm_ref.h"

/* The y of normalise_groups_ref from its statistics. x, y: [images, positions, channels], y may be
   x; mean, variance: [images, groups]; gamma, beta: [channels] or NULL. */
static void group_norm_apply_ref(real* y, const real* x, const real* gamma, const real* beta,
                                 const real* mean, const real* variance, const group_norm_dims* d) {
  const int width = d->groups > 0 ? d->channels / d->groups : 0;
  for (int n = 0; n < d->images; ++n) {
    for (int p = 0; p < d->positions; ++p, x += d->channels, y += d->channels) {
      for (int c = 0; c < d->channels; ++c) {
        const int group = n * d->groups + c / width;
        const real inverse = 1 / sqrt(variance[group] + (real)d->epsilon);
        y[c] = (x[c] - mean[group]) * inverse * (gamma ? gamma[c] : 1) + (beta ? beta[c] : 0);
      }
    }
  }
}

/* The gradient of normalise_groups_ref. With m values a group, g = dy gamma and
   xhat = (x - mean) / sqrt(variance + epsilon):
   dx = (g - sum of g / m - xhat sum of g xhat / m) / sqrt(variance + epsilon), sums over a group;
   dgamma[c] = sum of dy xhat and dbeta[c] = sum of dy over images and positions.
   dx may be dy or x. */
static void group_norm_grad_ref(real* dx, real* dgamma, real* dbeta, const real* dy, const real* x,
                                const real* mean, const real* variance, const real* gamma,
                                const group_norm_dims* d) {
  const int width = d->channels / d->groups;
  const ptrdiff_t step = (ptrdiff_t)d->positions * d->channels;
  const real count = (real)d->positions * (real)width;
  for (int c = 0; c < d->channels; ++c) dgamma[c] = dbeta[c] = 0;
  for (int i = 0; i < d->images * d->groups; ++i) {
    const int first = i % d->groups * width;
    const ptrdiff_t begin = i / d->groups * step + first;
    const ptrdiff_t end = begin - first + step;
    const real inverse = 1 / sqrt(variance[i] + (real)d->epsilon);
    real sum = 0;
    real product = 0;
    for (ptrdiff_t at = begin; at < end; at += d->channels) {
      for (int c = 0; c < width; ++c) {
        const real xhat = (x[at + c] - mean[i]) * inverse;
        const real scale = gamma ? gamma[first + c] : 1;
        dgamma[first + c] += dy[at + c] * xhat;
        dbeta[first + c] += dy[at + c];
        sum += dy[at + c] * scale;
        product += dy[at + c] * scale * xhat;
      }
    }
    for (ptrdiff_t at = begin; at < end; at += d->channels) {
      for (int c = 0; c < width; ++c) {
        const real xhat = (x[at + c] - mean[i]) * inverse;
        const real g = dy[at + c] * (gamma ? gamma[first + c] : 1);
        dx[at + c] = inverse * (g - (sum + xhat * product) / count);
      }
    }
  }
}
