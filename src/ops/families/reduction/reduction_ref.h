/* The family of reductions over axes whose derivative reads input and result. Plain C99: also
   emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_REDUCTION_REF_H
#define THIMBLE_OPS_COMMON_REDUCTION_REF_H

#include "ops/families/reduction/reduce_dims.h"

typedef struct {
  reduce_dims walk;
  double a; /* a constant of the formula, named by the op */
} reduction_dims;

/* Defines the kernels of <op> (REDUCTION_VALUE_REF: without gradient) from those of one element of
   its result:
     real <op>_one(const real* x, const reduction_dims* d)
     void <op>_grad_one(real* dx, real dy, const real* x, real y, const reduction_dims* d)
   where element r < d->walk.reduced lies at reduce_offset(r, &d->walk.over).
   x, dx: see reduce_dims, dx may be x; y, dy: [outputs]. */
#define REDUCTION_VALUE_REF(op)                                                 \
  static void op##_at(real* y, const real* x, int o, const reduction_dims* d) { \
    y[o] = op##_one(x + reduce_offset(o, &d->walk.kept), d);                    \
  }                                                                             \
  static void op##_ref(real* y, const real* x, const reduction_dims* d) {       \
    for (int o = 0; o < d->walk.outputs; ++o) op##_at(y, x, o, d);              \
  }

#define REDUCTION_REF(op)                                                                 \
  REDUCTION_VALUE_REF(op)                                                                 \
  static void op##_grad_at(real* dx, const real* dy, const real* x, const real* y, int o, \
                           const reduction_dims* d) {                                     \
    const int at = reduce_offset(o, &d->walk.kept);                                       \
    op##_grad_one(dx + at, dy[o], x + at, y[o], d);                                       \
  }                                                                                       \
  static void op##_grad_ref(real* dx, const real* dy, const real* x, const real* y,       \
                            const reduction_dims* d) {                                    \
    for (int o = 0; o < d->walk.outputs; ++o) op##_grad_at(dx, dy, x, y, o, d);           \
  }

#endif
