#include "ops/matmul/dims.h"

static real matmul_activated(int activation, wide sum) {
#ifdef THIMBLE_OF_INTEGERS
  const real value = (real)sum;
  if (activation == KERNEL_ACTIVATION_NONE) return value;
  if (!(value > 0)) return 0;
  return activation == KERNEL_ACTIVATION_RELU6 && value > 6 ? 6 : value;
#else
  return KERNEL_ACTIVATED(activation, sum);
#endif
}

/* Matrix product: y[i,j] = act(sum_l a[i,l] b[l,j] + bias[j] (+ y before)), for every batch.
   a: [batch,m,k] or [batch,k,m], b: [batch,k,n] or [batch,n,k] (see dims.h), bias: [n] or NULL,
   y: [batch,m,n]; y aliases nothing. */
static void matmul_ref(real* y, const real* a, const real* b, const real* bias,
                       const matmul_dims* d) {
  const ptrdiff_t a_row = d->transpose_a ? 1 : d->k;
  const ptrdiff_t a_column = !d->transpose_a ? 1 : d->a_rows ? d->a_rows : d->m;
  const ptrdiff_t b_row = d->transpose_b ? 1 : d->n;
  const ptrdiff_t b_column = d->transpose_b ? d->k : 1;
  for (int batch = 0; batch < d->batch; ++batch) {
    const real* a_matrix =
        a + (d->broadcast_a ? 0 : (ptrdiff_t)batch * d->m * d->k) + d->a_first * a_row;
    const real* b_matrix = b + (d->broadcast_b ? 0 : (ptrdiff_t)batch * d->k * d->n);
    real* y_matrix = y + (ptrdiff_t)batch * d->m * d->n;
    for (int i = 0; i < d->m; ++i) {
      for (int j = 0; j < d->n; ++j) {
        real* out = y_matrix + (ptrdiff_t)i * d->n + j;
        wide sum = 0;
        for (int l = 0; l < d->k; ++l) {
          sum +=
              (wide)a_matrix[i * a_row + l * a_column] * (wide)b_matrix[l * b_row + j * b_column];
        }
        if (bias) sum += (wide)bias[j];
        if (d->accumulate) sum += (wide)*out;
        *out = matmul_activated(d->activation, sum);
      }
    }
  }
}
