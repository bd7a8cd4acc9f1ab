#include "ops/rotary_embedding/dims.h"

/* The heads of one step of one sample; y may be x. */
static void rotate_pairs_row(real* y, const real* x, const real* turns, int row,
                             const rotary_dims* d) {
  const real* cosine = turns + (ptrdiff_t)(row % d->steps) * 2 * d->pairs;
  const real* sine = cosine + d->pairs;
  const real direction = d->inverse ? -(real)1 : (real)1;
  const int step = d->interleaved ? 2 : 1;
  const int partner = d->interleaved ? 1 : d->pairs;
  for (int h = 0; h < d->heads; ++h) {
    const ptrdiff_t at = ((ptrdiff_t)row * d->heads + h) * d->width;
    for (int i = 0; i < d->pairs; ++i) {
      const real a = x[at + i * step];
      const real b = x[at + i * step + partner];
      const real s = direction * sine[i];
      y[at + i * step] = a * cosine[i] - b * s;
      y[at + i * step + partner] = b * cosine[i] + a * s;
    }
    for (int i = 2 * d->pairs; i < d->width; ++i) y[at + i] = x[at + i];
  }
}

/* y, x: [rows, heads, width], y may be x; turns: [steps, {cosines, sines}, pairs]. */
static void rotate_pairs_ref(real* y, const real* x, const real* turns, const rotary_dims* d) {
  for (int row = 0; row < d->rows; ++row) rotate_pairs_row(y, x, turns, row, d);
}
