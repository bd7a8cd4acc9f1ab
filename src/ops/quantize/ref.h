#include "ops/quantize/dims.h"

/* x / scale + zero point, rounded; NaN gives the zero point. */
static int64_t quantize_unbounded(real x, const quantize_dims* d) {
  const float v = (float)x / d->scale;
  int32_t nearest = 0;
  if (v == v) nearest = d->out.fixed_point ? quantize_nearest_away(v) : quantized_nearest(v);
  return (int64_t)nearest + d->out.zero_point;
}

/* y[i] = x[i] / scale + zero point, rounded and clamped. x, y: [n]; no aliasing. */
static void quantize_ref(int8_t* y, const real* x, const quantize_dims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = quantized_clamp(quantize_unbounded(x[i], d), &d->out);
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void quantize_inside_ref(uint8_t* bits, const real* x, const quantize_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    quantized_add_bit(bits, i, quantized_inside(quantize_unbounded(x[i], d), &d->out));
  }
}
