#include "ops/accumulate_gradient/dims.h"

/* sum_out: [n], the memory of sum: [n] or a copy of it. grad: [n]. */
static void accumulate_gradient_ref(real* sum_out, const real* sum, const real* grad,
                                    const accumulate_dims* d) {
  const real weight = (real)d->weight;
  for (int i = 0; i < d->n; ++i) sum_out[i] = sum[i] + weight * grad[i];
}

/* mean: [n], may alias grad: [n]. sum_out: [n], the memory of sum: [n] or a copy. total: [1]. */
static void mean_gradient_ref(real* mean, real* sum_out, const real* sum, const real* grad,
                              const real* total, const accumulate_dims* d) {
  const real weight = (real)d->weight;
  const real share = (real)(1.0 / (double)*total);
  for (int i = 0; i < d->n; ++i) {
    mean[i] = share * (sum[i] + weight * grad[i]);
    sum_out[i] = 0;
  }
}
