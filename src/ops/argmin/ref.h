/* y = index of the smallest along the axis. x: [outer, size, inner]; y: [outer, inner]. */
static void argmin_ref(int32_t* y, const real* x, const axis_dims* d) {
  const ptrdiff_t step = d->inner;
  for (int row = 0; row < d->outer * d->inner; ++row) {
    const real* from = x + (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner;
    int best = 0;
    for (int i = 1; i < d->size; ++i) {
      const real value = from[i * step];
      const int first_nan = value != value && from[best * step] == from[best * step];
      if (value < from[best * step] || first_nan) best = i;
    }
    y[row] = best;
  }
}
