/* The reference kernels of max and min (of axes, of two tensors, and their places); BEFORE is > or
   <. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_EXTREMUM_REF_H
#define THIMBLE_OPS_COMMON_EXTREMUM_REF_H

#include "ops/families/nary/nary_dims.h"
#include "ops/families/reduction/axis_dims.h"
#include "ops/families/reduction/reduce_dims.h"

/* <op>_ref: y[o] = the extreme one of its `reduced` elements of x, NaN where one is. y: [outputs];
   x: see reduce_dims.
   <op>_grad_ref: dx = dy / ties where x is that one, else 0. dx, x: see reduce_dims, dx may be x;
   dy, y: [outputs]. */
#define EXTREMUM_REF(op, BEFORE)                                                               \
  static void op##_ref(real* y, const real* x, const reduce_dims* d) {                         \
    for (int o = 0; o < d->outputs; ++o) {                                                     \
      const real* from = x + reduce_offset(o, &d->kept);                                       \
      real best = from[0];                                                                     \
      for (int r = 1; r < d->reduced; ++r) {                                                   \
        const real value = from[reduce_offset(r, &d->over)];                                   \
        if (value BEFORE best || value != value) best = value;                                 \
      }                                                                                        \
      y[o] = best;                                                                             \
    }                                                                                          \
  }                                                                                            \
  static void op##_grad_ref(real* dx, const real* dy, const real* x, const real* y,            \
                            const reduce_dims* d) {                                            \
    for (int o = 0; o < d->outputs; ++o) {                                                     \
      const int at = reduce_offset(o, &d->kept);                                               \
      int ties = 0;                                                                            \
      for (int r = 0; r < d->reduced; ++r) ties += x[at + reduce_offset(r, &d->over)] == y[o]; \
      for (int r = 0; r < d->reduced; ++r) {                                                   \
        const int i = at + reduce_offset(r, &d->over);                                         \
        dx[i] = x[i] == y[o] ? dy[o] / (real)ties : 0;                                         \
      }                                                                                        \
    }                                                                                          \
  }

/* <op>_ref: y = index of the extreme one along the axis, of equals and of NaN the first. x: [outer,
   size, inner]; y: [outer, inner]. */
#define EXTREMUM_PLACE_REF(op, BEFORE)                                                      \
  static void op##_ref(int32_t* y, const real* x, const axis_dims* d) {                     \
    const ptrdiff_t step = d->inner;                                                        \
    for (int row = 0; row < d->outer * d->inner; ++row) {                                   \
      const real* from = x + (ptrdiff_t)(row / d->inner) * d->size * step + row % d->inner; \
      int best = 0;                                                                         \
      for (int i = 1; i < d->size; ++i) {                                                   \
        const real value = from[i * step];                                                  \
        const int first_nan = value != value && from[best * step] == from[best * step];     \
        if (value BEFORE from[best * step] || first_nan) best = i;                          \
      }                                                                                     \
      y[row] = best;                                                                        \
    }                                                                                       \
  }

/* <op>_ref: y = the extreme one of a and b, NaN where one is. a, b: see nary_dims; y: [n], may be
   an input of n elements.
   <op>_grad_ref: dx = dy where a is that one, dy / 2 where they are equal, else 0. dy, dx: [n]. */
#define EXTREMUM_OF_TWO_REF(op, BEFORE)                                             \
  static void op##_ref(real* y, const real* a, const real* b, const nary_dims* d) { \
    NARY_FOR_EACH(d, at, {                                                          \
      const real x = a[at[0]];                                                      \
      y[i] = x BEFORE b[at[1]] || x != x ? x : b[at[1]];                            \
    })                                                                              \
  }                                                                                 \
  static void op##_grad_ref(real* dx, const real* dy, const real* a, const real* b, \
                            const nary_dims* d) {                                   \
    NARY_FOR_EACH(d, at, {                                                          \
      const real x = a[at[1]];                                                      \
      const real other = b[at[2]];                                                  \
      dx[i] = x BEFORE other ? dy[i] : x == other ? dy[i] / 2 : 0;                  \
    })                                                                              \
  }

#endif
