#include "ops/quantized_add/dims.h"

/* The sum before it is brought within the bounds. */
static int64_t quantized_add_unbounded(int32_t a, int32_t b, const quantized_add_dims* d) {
  a -= d->a_zero_point;
  b -= d->b_zero_point;
  if (d->out.fixed_point) {
    const int32_t sum =
        quantized_times(a * (1 << 20), &d->a_factor) + quantized_times(b * (1 << 20), &d->b_factor);
    return quantized_unbounded(sum, &d->y_factor, &d->out);
  }
  const float left = (float)a * d->a_scale;
  const float right = (float)b * d->b_scale;
  const float sum = left + right;
  return (int64_t)quantized_nearest(sum / d->y_scale) + d->out.zero_point;
}

/* y = (a - zero point) * scale + (b - zero point) * scale, requantized. a, b: see nary_dims; y:
   [n], may be an input of its size. */
static void quantized_add_ref(int8_t* y, const int8_t* a, const int8_t* b,
                              const quantized_add_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(walk, at,
                y[i] = quantized_clamp(quantized_add_unbounded(a[at[0]], b[at[1]], d), &d->out));
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void quantized_add_inside_ref(uint8_t* bits, const int8_t* a, const int8_t* b,
                                     const quantized_add_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(
      walk, at,
      quantized_add_bit(bits, i,
                        quantized_inside(quantized_add_unbounded(a[at[0]], b[at[1]], d), &d->out)));
}
