#include "ops/roll/dims.h"

/* Moves one row of x, all of the last axis, to its place in y, which does not alias x. */
static void roll_part(unsigned char* y, const unsigned char* x, int row, const roll_dims* d) {
  const int last = d->count - 1;
  if (copy_is_packed(d->element)) {
    const ptrdiff_t size = (ptrdiff_t)d->size[last] * d->run;
    const ptrdiff_t shift = (ptrdiff_t)d->shift[last] * d->run;
    const ptrdiff_t to = roll_row(row, d) * size;
    copy_packed(y, to + shift, x, row * size, 1, size - shift, d->element.bits);
    copy_packed(y, to, x, row * size + size - shift, 1, shift, d->element.bits);
    return;
  }
  const size_t step = (size_t)d->run * COPY_BYTES(d->element);
  const size_t all = (size_t)d->size[last] * step;
  const size_t moved = (size_t)d->shift[last] * step;
  y += (size_t)roll_row(row, d) * all;
  x += (size_t)row * all;
  memcpy(y + moved, x, all - moved);
  if (moved > 0) memcpy(y, x + (all - moved), moved);
}

/* x, y: see roll_dims; no aliasing. */
static void roll_ref(unsigned char* y, const unsigned char* x, const roll_dims* d) {
  for (int row = 0; row < d->rows; ++row) roll_part(y, x, row, d);
  if (copy_is_packed(d->element)) {
    copy_clear_rest(y, (ptrdiff_t)d->rows * d->size[d->count - 1] * d->run, d->element.bits);
  }
}
