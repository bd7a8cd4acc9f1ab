/* y[i]: normal with mean a and standard deviation b, pairs from pairs of words. y: [n]; rng: [4].
 */
static void random_normal_ref(real* y, const uint32_t* rng, const random_dims* d) {
  for (int begin = 0; begin < d->n; begin += 2) {
    const philox_block block = philox_at(rng, d->stream, (uint32_t)begin / 4);
    const int word = begin % 4;
    /* 1 - u lies in (0, 1]: its logarithm is finite. */
    const real u = 1 - (real)philox_unit(block.v[word]);
    const real angle = (real)6.283185307179586 * (real)philox_unit(block.v[word + 1]);
    const real radius = sqrt(-2 * log(u));
    y[begin] = (real)d->a + (real)d->b * (radius * cos(angle));
    if (begin + 1 < d->n) y[begin + 1] = (real)d->a + (real)d->b * (radius * sin(angle));
  }
}
