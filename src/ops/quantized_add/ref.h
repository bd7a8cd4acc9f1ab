#include "ops/families/quantized/sum_dims.h"

/* y = (a - zero point) * scale + (b - zero point) * scale, requantized. a, b: see nary_dims; y:
   [n], may be an input of its size. */
static void quantized_add_ref(int8_t* y, const int8_t* a, const int8_t* b,
                              const quantized_sum_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(walk, at,
                y[i] = quantized_clamp(quantized_sum_unbounded(a[at[0]], b[at[1]], 1, d), &d->out));
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void quantized_add_inside_ref(uint8_t* bits, const int8_t* a, const int8_t* b,
                                     const quantized_sum_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(
      walk, at,
      quantized_add_bit(
          bits, i, quantized_inside(quantized_sum_unbounded(a[at[0]], b[at[1]], 1, d), &d->out)));
}
