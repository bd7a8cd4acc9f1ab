#include "ops/families/random/random_dims.h"

/* y[i]: normal with mean a and standard deviation b, pairs from pairs of words. y: [n]; rng: [6].
 */
static void random_normal_ref(real* y, const uint32_t* rng, const random_dims* d) {
  const uint64_t first = philox_first(rng, d->n);
  for (int i = 0; i < d->n;) {
    const uint64_t element = first + (uint64_t)i;
    const philox_block block = philox_at(rng, d->stream, (uint32_t)(element / 4));
    const int word = (int)(element % 4) / 2 * 2;
    /* 1 - u lies in (0, 1]: its logarithm is finite. */
    const real u = 1 - (real)philox_unit(block.v[word]);
    const real angle = (real)6.283185307179586 * (real)philox_unit(block.v[word + 1]);
    const real radius = sqrt(-2 * log(u));
    if (element % 2 == 0) y[i++] = (real)d->a + (real)d->b * (radius * cos(angle));
    if (i < d->n) y[i++] = (real)d->a + (real)d->b * (radius * sin(angle));
  }
}
