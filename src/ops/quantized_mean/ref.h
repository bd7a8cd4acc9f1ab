#include "ops/quantized_mean/dims.h"

/* The sum that result o is made of; see quantized_mean_ref. */
static int32_t quantized_mean_sum(const int8_t* x, const quantized_mean_dims* d, int o) {
  const reduce_dims* walk = &d->walk;
  const int inner = walk->over.count > 0 ? walk->over.size[0] : 1;
  const ptrdiff_t stride = walk->over.count > 0 ? walk->over.stride[0] : 1;
  const int8_t* line = x + reduce_offset(o, &walk->kept);
  int64_t sum = -(int64_t)walk->reduced * d->input_zero_point;
  for (int r = 0; r < walk->reduced; r += inner) {
    const int8_t* from = line + reduce_offset(r, &walk->over);
    for (int i = 0; i < inner; ++i) sum += from[i * stride];
  }
  return quantized_saturate(sum);
}

/* y[o] = (sum of its `reduced` elements of x, each less the zero point) * factor + zero point.
   y: [outputs]; x: see reduce_dims; nothing aliases. */
static void quantized_mean_ref(int8_t* y, const int8_t* x, const quantized_mean_dims* d) {
  for (int o = 0; o < d->walk.outputs; ++o) {
    y[o] = quantized_requantize(quantized_mean_sum(x, d, o), &d->factor, &d->out);
  }
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [outputs]. */
static void quantized_mean_inside_ref(uint8_t* bits, const int8_t* x,
                                      const quantized_mean_dims* d) {
  for (int o = 0; o < d->walk.outputs; ++o) {
    const int64_t v = quantized_unbounded(quantized_mean_sum(x, d, o), &d->factor, &d->out);
    quantized_add_bit(bits, o, quantized_inside(v, &d->out));
  }
}
