/* y[i] = x[i] / scale + zero point, rounded and clamped; NaN gives the zero point. x, y: [n]; no
   aliasing. */
static void quantize_ref(int8_t* y, const real* x, const quantize_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const float v = (float)x[i] / d->scale;
    int32_t nearest = 0;
    if (v == v) nearest = d->out.fixed_point ? quantize_nearest_away(v) : quantized_nearest(v);
    y[i] = quantized_clamp((int64_t)nearest + d->out.zero_point, &d->out);
  }
}
