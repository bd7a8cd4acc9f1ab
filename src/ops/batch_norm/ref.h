#include "ops/families/norm/batch_norm_dims.h"

/* Batch normalisation with the statistics of the batch, two passes for each:
   mean[c] = sum_r x[r,c] / rows, variance[c] = sum_r (x[r,c] - mean[c])^2 / rows,
   y[r,c] = act((x[r,c] - mean[c]) / sqrt(variance[c] + epsilon) * gamma[c] + beta[c]).
   x, y: [rows, channels], all others: [channels]; gamma and beta may be NULL (1 and 0); the running
   statistics are not read. y may alias x. No rows give statistics of 0. */
static void batch_norm_ref(real* y, real* mean, real* variance, const real* x, const real* gamma,
                           const real* beta, const real* running_mean, const real* running_var,
                           const batch_norm_dims* d) {
  const ptrdiff_t size = (ptrdiff_t)d->rows * d->channels;
  const real count = (real)(d->rows > 0 ? d->rows : 1);
  (void)running_mean;
  (void)running_var;
  for (int c = 0; c < d->channels; ++c) {
    real sum = 0;
    for (ptrdiff_t i = c; i < size; i += d->channels) sum += x[i];
    mean[c] = sum / count;
    sum = 0;
    for (ptrdiff_t i = c; i < size; i += d->channels) {
      const real centered = x[i] - mean[c];
      sum += centered * centered;
    }
    variance[c] = sum / count;
    const real scale = (gamma ? gamma[c] : 1) / sqrt(variance[c] + d->epsilon);
    const real shift = beta ? beta[c] : 0;
    for (ptrdiff_t i = c; i < size; i += d->channels) {
      const real value = (x[i] - mean[c]) * scale + shift;
      y[i] = KERNEL_ACTIVATED(d->activation, value);
    }
  }
}

/* Moves the running statistics towards those of a batch of `rows` values a channel, the variance
   made unbiased: running = (1 - momentum) * running + momentum * batch.
   All: [channels]; the new statistics lie on the old. */
static void batch_norm_update_ref(real* new_mean, real* new_var, const real* running_mean,
                                  const real* running_var, const real* mean, const real* variance,
                                  const batch_norm_dims* d) {
  const real momentum = (real)d->momentum;
  const real unbiased = d->rows > 1 ? (real)d->rows / (real)(d->rows - 1) : 1;
  for (int c = 0; c < d->channels; ++c) {
    new_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean[c];
    new_var[c] = (1 - momentum) * running_var[c] + momentum * (variance[c] * unbiased);
  }
}

/* The same where running statistics are means over `count` batches before this one.
   count: one number; the new count has its memory. */
static void batch_norm_cumulative_update_ref(real* new_mean, real* new_var, real* new_count,
                                             const real* running_mean, const real* running_var,
                                             const real* count, const real* mean,
                                             const real* variance, const batch_norm_dims* d) {
  const real momentum = 1 / (*count + 1);
  const real unbiased = d->rows > 1 ? (real)d->rows / (real)(d->rows - 1) : 1;
  for (int c = 0; c < d->channels; ++c) {
    new_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean[c];
    new_var[c] = (1 - momentum) * running_var[c] + momentum * (variance[c] * unbiased);
  }
  *new_count = *count + 1;
}
