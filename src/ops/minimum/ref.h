/* y = the smaller of a and b, NaN where one is. a, b: see nary_dims; y: [n], may be an input of n
   elements. */
static void minimum_ref(real* y, const real* a, const real* b, const nary_dims* d) {
  NARY_FOR_EACH(d, at, {
    const real x = a[at[0]];
    y[i] = x < b[at[1]] || x != x ? x : b[at[1]];
  })
}

/* dx = dy where a is the smaller, dy / 2 where they are equal, else 0. dy, dx: [n]. */
static void minimum_grad_ref(real* dx, const real* dy, const real* a, const real* b,
                             const nary_dims* d) {
  NARY_FOR_EACH(d, at, {
    const real x = a[at[1]];
    const real other = b[at[2]];
    dx[i] = x < other ? dy[i] : x == other ? dy[i] / 2 : 0;
  })
}
