#include "ops/quantized_dense/dims.h"

/* The sum of unit u for one row of x. */
static int32_t quantized_dense_sum(const int8_t* x, const int8_t* w, const int32_t* bias,
                                   const quantized_dense_dims* d, int u) {
  const int8_t* row = w + (ptrdiff_t)u * d->features;
  int64_t sum = bias ? bias[u] : 0;
  for (int c = 0; c < d->features; ++c) sum += (x[c] - d->input_zero_point) * row[c];
  return quantized_saturate(sum);
}

/* y[i,u] = requantized(saturated(sum_c (x[i,c] - zero point) w[u,c] + bias[u])).
   x: [rows,features], w: [units,features], bias: [units] or NULL, y: [rows,units]; y aliases
   nothing. */
static void quantized_dense_ref(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                                const quantized_dense_dims* d) {
  const quantized_factor* factors = QUANTIZED_FACTORS(d);
  for (int i = 0; i < d->rows; ++i, x += d->features) {
    for (int u = 0; u < d->units; ++u) {
      *y++ = quantized_requantize(quantized_dense_sum(x, w, bias, d, u), &factors[u], &d->out);
    }
  }
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [rows,units]. */
static void quantized_dense_inside_ref(uint8_t* bits, const int8_t* x, const int8_t* w,
                                       const int32_t* bias, const quantized_dense_dims* d) {
  const quantized_factor* factors = QUANTIZED_FACTORS(d);
  ptrdiff_t at = 0;
  for (int i = 0; i < d->rows; ++i, x += d->features) {
    for (int u = 0; u < d->units; ++u) {
      const int32_t sum = quantized_dense_sum(x, w, bias, d, u);
      const int64_t v = quantized_unbounded(sum, &factors[u], &d->out);
      quantized_add_bit(bits, at++, quantized_inside(v, &d->out));
    }
  }
}

/* Both: y and bits. */
static void quantized_dense_masked_ref(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w,
                                       const int32_t* bias, const quantized_dense_dims* d) {
  const quantized_factor* factors = QUANTIZED_FACTORS(d);
  ptrdiff_t at = 0;
  for (int i = 0; i < d->rows; ++i, x += d->features) {
    for (int u = 0; u < d->units; ++u) {
      const int32_t sum = quantized_dense_sum(x, w, bias, d, u);
      const int64_t v = quantized_unbounded(sum, &factors[u], &d->out);
      y[at] = quantized_clamp(v, &d->out);
      quantized_add_bit(bits, at++, quantized_inside(v, &d->out));
    }
  }
}
