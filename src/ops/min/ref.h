/* y[o] = the smallest of its `reduced` elements of x. y: [outputs]; x: see reduce_dims. */
static void min_ref(real* y, const real* x, const reduce_dims* d) {
  for (int o = 0; o < d->outputs; ++o) {
    const real* from = x + reduce_offset(o, &d->kept);
    real smallest = from[0];
    for (int r = 1; r < d->reduced; ++r) {
      const real value = from[reduce_offset(r, &d->over)];
      if (value < smallest || value != value) smallest = value;
    }
    y[o] = smallest;
  }
}

/* dx = dy / ties where x is the smallest, else 0. dx, x: see reduce_dims, dx may be x; dy, y:
   [outputs]. */
static void min_grad_ref(real* dx, const real* dy, const real* x, const real* y,
                         const reduce_dims* d) {
  for (int o = 0; o < d->outputs; ++o) {
    const int at = reduce_offset(o, &d->kept);
    int ties = 0;
    for (int r = 0; r < d->reduced; ++r) ties += x[at + reduce_offset(r, &d->over)] == y[o];
    for (int r = 0; r < d->reduced; ++r) {
      const int i = at + reduce_offset(r, &d->over);
      dx[i] = x[i] == y[o] ? dy[o] / (real)ties : 0;
    }
  }
}
