/* y[i]: uniform in [a, a + b), at most limit. y: [n]; rng: [4]. */
static void random_uniform_ref(real* y, const uint32_t* rng, const random_dims* d) {
  const real limit = (real)d->limit;
  for (int begin = 0; begin < d->n; begin += 4) {
    const philox_block block = philox_at(rng, d->stream, (uint32_t)begin / 4);
    for (int i = begin; i < d->n && i < begin + 4; ++i) {
      const real value = (real)d->a + (real)d->b * (real)philox_unit(block.v[i - begin]);
      y[i] = value < limit ? value : limit;
    }
  }
}
