/* Moves one row of x, all of the last axis, to its place in y, which does not alias x. */
static void roll_part(unsigned char* y, const unsigned char* x, int row, const roll_dims* d) {
  const int last = d->count - 1;
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
}
