#include "ops/families/nary/nary_dims.h"

/* y = min(max(x, low), high), NaN where one of them is. x, low, high: see nary_dims, the last two
   may be NULL; y: [n], may be an input of n elements. */
static void clamp_ref(real* y, const real* x, const real* low, const real* high,
                      const nary_dims* d) {
  NARY_FOR_EACH(d, at, {
    real value = x[at[0]];
    if (low && (value < low[at[1]] || low[at[1]] != low[at[1]])) value = low[at[1]];
    if (high && (value > high[at[2]] || high[at[2]] != high[at[2]])) value = high[at[2]];
    y[i] = value;
  })
}

/* dx = dy where y is the input that d->choice names, else 0. dy, dx: [n]. */
static void clamp_grad_ref(real* dx, const real* dy, const real* x, const real* low,
                           const real* high, const nary_dims* d) {
  NARY_FOR_EACH(d, at, {
    const real value = x[at[1]];
    const int below = low && value < low[at[2]];
    const int above = high && value > high[at[3]];
    const int inside = (!low || value >= low[at[2]]) && (!high || value <= high[at[3]]);
    const int crossed = low && high && high[at[3]] < low[at[2]];
    const int flat = low && high && high[at[3]] == low[at[2]];
    const int to_low = below && !crossed && !flat;
    const int to_high = above || crossed;
    const int chosen = d->choice == 0 ? inside : d->choice == 1 ? to_low : to_high;
    dx[i] = chosen ? dy[i] : 0;
  })
}
