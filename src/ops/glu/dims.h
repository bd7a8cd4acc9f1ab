/* Sizes of gated linear units. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_GLU_DIMS_H_
#define THIMBLE_OPS_GLU_DIMS_H_

#include <stddef.h>

/* x is [outer, 2, run]: the halves a and b; y is [outer, run]. */
typedef struct glu_dims {
  int outer;
  int run;
} glu_dims;

/* Defines <op>_ref and <op>_grad_ref from expressions in a, b and dy. Nothing aliases. */
#define GLU_REF(op, value, da, db)                                                        \
  static void op##_ref(real* y, const real* x, const glu_dims* d) {                       \
    for (int o = 0; o < d->outer; ++o, x += 2 * (ptrdiff_t)d->run, y += d->run) {         \
      for (int i = 0; i < d->run; ++i) {                                                  \
        const real a = x[i];                                                              \
        const real b = x[d->run + i];                                                     \
        y[i] = (value);                                                                   \
      }                                                                                   \
    }                                                                                     \
  }                                                                                       \
  static void op##_grad_ref(real* dx, const real* up, const real* x, const glu_dims* d) { \
    for (int o = 0; o < d->outer; ++o, x += 2 * (ptrdiff_t)d->run, up += d->run) {        \
      for (int i = 0; i < d->run; ++i) {                                                  \
        const real a = x[i];                                                              \
        const real b = x[d->run + i];                                                     \
        const real dy = up[i];                                                            \
        dx[i] = (da);                                                                     \
        dx[d->run + i] = (db);                                                            \
      }                                                                                   \
      dx += 2 * (ptrdiff_t)d->run;                                                        \
    }                                                                                     \
  }

#endif
