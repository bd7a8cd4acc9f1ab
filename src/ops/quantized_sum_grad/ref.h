#include "ops/quantized_sum_grad/column.h"
#include "ops/quantized_sum_grad/dims.h"

/* dsum[i,c] = dy[i,c] factors[c], or 0 times the factor where there are bits and this one is not
   set; dbias[c] = the sum of dsum[i,c] over i. dy, dsum: [rows,channels], dsum may alias dy;
   factors, dbias: [channels]; bits: of dy, or null. */
static void quantized_sum_grad_ref(real* dsum, real* dbias, const real* dy, const real* factors,
                                   const uint8_t* bits, const quantized_sum_grad_dims* d) {
  for (int c = 0; c < d->channels; ++c) {
    real total = 0;
    for (int begin = 0; begin < d->rows; begin += QUANTIZED_SUM_GRAD_BLOCK) {
      const int rest = d->rows - begin;
      const int rows = rest < QUANTIZED_SUM_GRAD_BLOCK ? rest : QUANTIZED_SUM_GRAD_BLOCK;
      total += quantized_sum_grad_column(dsum, dy, factors[c], bits, c, d->channels, begin,
                                         begin + rows);
    }
    dbias[c] = total;
  }
}
