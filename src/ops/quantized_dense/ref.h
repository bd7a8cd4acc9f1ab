/* y[i,u] = requantized(saturated(sum_c (x[i,c] - zero point) w[u,c] + bias[u])).
   x: [rows,features], w: [units,features], bias: [units] or NULL, y: [rows,units]; y aliases
   nothing. */
static void quantized_dense_ref(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                                const quantized_dense_dims* d) {
  const quantized_factor* factors = QUANTIZED_FACTORS(d);
  for (int i = 0; i < d->rows; ++i, x += d->features) {
    const int8_t* row = w;
    for (int u = 0; u < d->units; ++u, row += d->features) {
      int64_t sum = bias ? bias[u] : 0;
      for (int c = 0; c < d->features; ++c) sum += (x[c] - d->input_zero_point) * row[c];
      *y++ = quantized_requantize(quantized_saturate(sum), &factors[u], &d->out);
    }
  }
}
