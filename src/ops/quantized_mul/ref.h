/* y = (a - zero point) * (b - zero point) * factor, requantized. a, b: see nary_dims; y: [n], may
   be an input of its size. */
static void quantized_mul_ref(int8_t* y, const int8_t* a, const int8_t* b,
                              const quantized_mul_dims* d) {
  const nary_dims* walk = &d->walk;
  NARY_FOR_EACH(
      walk, at,
      y[i] = quantized_requantize((a[at[0]] - d->a_zero_point) * (b[at[1]] - d->b_zero_point),
                                  &d->factor, &d->out));
}
