/* y[i] = x[i] * a where its word's upper 24 bits reach `limit`, else 0. y: [n], may alias x. */
static void dropout_ref(real* y, const uint32_t* rng, const real* x, const random_dims* d) {
  const uint32_t limit = (uint32_t)d->limit;
  for (int begin = 0; begin < d->n; begin += 4) {
    const philox_block block = philox_at(rng, d->stream, (uint32_t)begin / 4);
    for (int i = begin; i < d->n && i < begin + 4; ++i) {
      y[i] = block.v[i - begin] >> 8 >= limit ? x[i] * (real)d->a : 0;
    }
  }
}
