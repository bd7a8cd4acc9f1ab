#include "ops/frozen_dense/dims.h"

static real frozen_dense_weight(const unsigned char* w, const real* scales, ptrdiff_t row,
                                ptrdiff_t column, const frozen_dense_dims* d) {
  const ptrdiff_t columns = d->transpose_b ? d->k : d->n;
  const ptrdiff_t at = row * columns + column;
  const real value = element_is_floating(d->type) ? (real)element_load_real(w, d->type, at)
                                                  : (real)element_load_int(w, d->type, at);
  return d->group == 0 ? value : value * scales[row * (columns / d->group) + column / d->group];
}

/* y[i,j] = sum_l x[i,l] W[j,l] + bias[j], with W[l,j] where W is not transposed. scales: one for
   each group of a row of W, or NULL; bias: [n] or NULL; y aliases nothing. */
static void frozen_dense_ref(real* y, const real* x, const unsigned char* w, const real* scales,
                             const real* bias, const frozen_dense_dims* d) {
  for (int j = 0; j < d->n; ++j) {
    for (int i = 0; i < d->m; ++i) y[(ptrdiff_t)i * d->n + j] = bias ? bias[j] : 0;
    for (int l = 0; l < d->k; ++l) {
      const real weight = d->transpose_b ? frozen_dense_weight(w, scales, j, l, d)
                                         : frozen_dense_weight(w, scales, l, j, d);
      for (int i = 0; i < d->m; ++i) {
        y[(ptrdiff_t)i * d->n + j] += x[(ptrdiff_t)i * d->k + l] * weight;
      }
    }
  }
}
