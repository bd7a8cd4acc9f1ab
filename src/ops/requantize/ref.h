#include "ops/requantize/dims.h"

/* y[i] = (x[i] - its zero point) * factor + zero point. x, y: [n]; y may be x. */
static void requantize_ref(int8_t* y, const int8_t* x, const requantize_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    y[i] = quantized_requantize(x[i] - d->input_zero_point, &d->factor, &d->out);
  }
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void requantize_inside_ref(uint8_t* bits, const int8_t* x, const requantize_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const int64_t v = quantized_unbounded(x[i] - d->input_zero_point, &d->factor, &d->out);
    quantized_add_bit(bits, i, quantized_inside(v, &d->out));
  }
}
