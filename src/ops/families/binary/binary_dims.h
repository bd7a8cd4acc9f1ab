/* How an elementwise kernel of two tensors walks over them. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_BINARY_DIMS_H
#define THIMBLE_OPS_COMMON_BINARY_DIMS_H

#include <stddef.h>

#define BINARY_MAX_AXES 8

/* The axes of the result, innermost first; axes of size 1 are left out and neighbours that both
   operands walk through alike are merged, so that equal shapes leave one axis. */
typedef struct {
  int n;     /* elements of the result */
  int count; /* axes, at least 1 */
  int size[BINARY_MAX_AXES];
  int stride_a[BINARY_MAX_AXES]; /* elements from one index to the next; 0: a is repeated */
  int stride_b[BINARY_MAX_AXES];
} binary_dims;

/* Defines <op>_ref: y[i] = value, an expression in a and b, which are `wide`. y: [n], row-major; y
   may alias an operand of n elements. */
#define BINARY_REF(op, value)                                                                \
  static void op##_ref(real* y_, const real* a_, const real* b_, const binary_dims* d) {     \
    for (int begin = 0; begin < d->n; begin += d->size[0]) {                                 \
      ptrdiff_t at_a = 0;                                                                    \
      ptrdiff_t at_b = 0;                                                                    \
      int rest = begin / d->size[0];                                                         \
      for (int axis = 1; axis < d->count; ++axis) {                                          \
        at_a += (ptrdiff_t)(rest % d->size[axis]) * d->stride_a[axis];                       \
        at_b += (ptrdiff_t)(rest % d->size[axis]) * d->stride_b[axis];                       \
        rest /= d->size[axis];                                                               \
      }                                                                                      \
      for (int i = 0; i < d->size[0]; ++i, at_a += d->stride_a[0], at_b += d->stride_b[0]) { \
        const wide a = (wide)a_[at_a];                                                       \
        const wide b = (wide)b_[at_b];                                                       \
        y_[begin + i] = (real)(value);                                                       \
      }                                                                                      \
    }                                                                                        \
  }

#endif
