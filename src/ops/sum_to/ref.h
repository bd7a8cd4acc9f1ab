/* y = x summed over the axes whose stride is 0. y: [outputs]; x: [n]; no aliasing. */
static void sum_to_ref(real* y, const real* x, const sum_to_dims* d) {
  for (int i = 0; i < d->outputs; ++i) y[i] = 0;
  for (int begin = 0; begin < d->n; begin += d->size[0]) {
    ptrdiff_t at = 0;
    int rest = begin / d->size[0];
    for (int axis = 1; axis < d->count; ++axis) {
      at += (ptrdiff_t)(rest % d->size[axis]) * d->stride[axis];
      rest /= d->size[axis];
    }
    if (d->stride[0] == 0) {
      real sum = 0;
      for (int i = 0; i < d->size[0]; ++i) sum += x[begin + i];
      y[at] += sum;
    } else {
      for (int i = 0; i < d->size[0]; ++i) y[at + i] += x[begin + i];
    }
  }
}
