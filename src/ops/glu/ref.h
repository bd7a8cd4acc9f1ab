#include "ops/families/reduction/axis_dims.h"

static real glu_sigmoid(real x) { return 1 / (1 + exp(-x)); }

/* The normal distribution function and its density. */
static real glu_phi(real x) { return (1 + erf(x * (real)0.70710678118654752)) / 2; }
static real glu_density(real x) { return (real)0.39894228040143268 * exp(-x * x / 2); }

/* Defines <op>_ref and <op>_grad_ref from expressions in a, b and dy. Nothing
   aliases. x: [outer, 2, inner], the halves a and b; y: [outer, inner]. */
#define GLU_REF(op, value, da, db)                                                         \
  static void op##_ref(real* y, const real* x, const axis_dims* d) {                       \
    for (int o = 0; o < d->outer; ++o, x += 2 * (ptrdiff_t)d->inner, y += d->inner) {      \
      for (int i = 0; i < d->inner; ++i) {                                                 \
        const real a = x[i];                                                               \
        const real b = x[d->inner + i];                                                    \
        y[i] = (value);                                                                    \
      }                                                                                    \
    }                                                                                      \
  }                                                                                        \
  static void op##_grad_ref(real* dx, const real* up, const real* x, const axis_dims* d) { \
    for (int o = 0; o < d->outer; ++o, x += 2 * (ptrdiff_t)d->inner, up += d->inner) {     \
      for (int i = 0; i < d->inner; ++i) {                                                 \
        const real a = x[i];                                                               \
        const real b = x[d->inner + i];                                                    \
        const real dy = up[i];                                                             \
        dx[i] = (da);                                                                      \
        dx[d->inner + i] = (db);                                                           \
      }                                                                                    \
      dx += 2 * (ptrdiff_t)d->inner;                                                       \
    }                                                                                      \
  }

GLU_REF(glu, a* glu_sigmoid(b), dy* glu_sigmoid(b), dy* a* glu_sigmoid(b) * (1 - glu_sigmoid(b)))
GLU_REF(swiglu, a* glu_sigmoid(a) * b, dy* b* glu_sigmoid(a) * (1 + a * (1 - glu_sigmoid(a))),
        dy* a* glu_sigmoid(a))
GLU_REF(geglu, a* glu_phi(a) * b, dy* b*(glu_phi(a) + a * glu_density(a)), dy* a* glu_phi(a))
#undef GLU_REF
