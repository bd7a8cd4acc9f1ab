#include "ops/quantized_mul/dims.h"

/* The product before it is brought within the bounds. */
static int64_t quantized_mul_unbounded(int32_t a, int32_t b, const quantized_mul_dims* d) {
  return quantized_unbounded((a - d->a_zero_point) * (b - d->b_zero_point), &d->factor, &d->out);
}

/* y = (a - zero point) * (b - zero point) * factor, requantized. a, b: see nary_dims; y: [n], may
   be an input of its size. */
static void quantized_mul_ref(int8_t* y, const int8_t* a, const int8_t* b,
                              const quantized_mul_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(walk, at,
                y[i] = quantized_clamp(quantized_mul_unbounded(a[at[0]], b[at[1]], d), &d->out));
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void quantized_mul_inside_ref(uint8_t* bits, const int8_t* a, const int8_t* b,
                                     const quantized_mul_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(
      walk, at,
      quantized_add_bit(bits, i,
                        quantized_inside(quantized_mul_unbounded(a[at[0]], b[at[1]], d), &d->out)));
}
