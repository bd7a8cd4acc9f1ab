#include "ops/families/random/random_dims.h"

/* y[i] = x[i] * a where its word's upper 24 bits reach `limit`, else 0. y: [n], may alias x. */
static void dropout_ref(real* y, const uint32_t* rng, const real* x, const random_dims* d) {
  const uint32_t limit = (uint32_t)d->limit;
  const uint64_t first = philox_first(rng, d->n);
  for (int i = 0; i < d->n;) {
    const philox_block block = philox_at(rng, d->stream, (uint32_t)((first + (uint64_t)i) / 4));
    for (int word = (int)((first + (uint64_t)i) % 4); word < 4 && i < d->n; ++word, ++i) {
      y[i] = block.v[word] >> 8 >= limit ? x[i] * (real)d->a : 0;
    }
  }
}
