#include "ops/families/random/random_dims.h"

/* y[i]: uniform in [a, a + b), at most limit. y: [n]; rng: [6]. */
static void random_uniform_ref(real* y, const uint32_t* rng, const random_dims* d) {
  const real limit = (real)d->limit;
  const uint64_t first = philox_first(rng, d->n);
  for (int i = 0; i < d->n;) {
    const philox_block block = philox_at(rng, d->stream, (uint32_t)((first + (uint64_t)i) / 4));
    for (int word = (int)((first + (uint64_t)i) % 4); word < 4 && i < d->n; ++word, ++i) {
      const real value = (real)d->a + (real)d->b * (real)philox_unit(block.v[word]);
      y[i] = value < limit ? value : limit;
    }
  }
}
