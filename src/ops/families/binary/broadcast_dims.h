/* How one tensor is repeated to fill another. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_BROADCAST_DIMS_H
#define THIMBLE_OPS_COMMON_BROADCAST_DIMS_H

#include <stddef.h>

/* The axes of the large tensor, innermost first, merged where they can be. */
typedef struct {
  int n;     /* elements of the large tensor */
  int count; /* axes, at least 1 */
  int size[8];
  int stride[8]; /* of the small tensor: 0 along repeated axes */
  int divisor;   /* what each element is divided by: 1 but in the gradient of a mean */
} broadcast_dims;

/* Defines <op>_ref: y[i] = the element of x that fills it, / divisor. y: [n]; no aliasing. */
#define BROADCAST_REF(op)                                                 \
  static void op##_ref(real* y, const real* x, const broadcast_dims* d) { \
    const int inner = d->size[0];                                         \
    for (int begin = 0; begin < d->n; begin += inner) {                   \
      const real* from = x;                                               \
      int rest = begin / inner;                                           \
      for (int a = 1; a < d->count; ++a) {                                \
        from += (ptrdiff_t)(rest % d->size[a]) * d->stride[a];            \
        rest /= d->size[a];                                               \
      }                                                                   \
      if (d->stride[0] == 0) {                                            \
        const real value = *from / (real)d->divisor;                      \
        for (int i = 0; i < inner; ++i) y[begin + i] = value;             \
      } else {                                                            \
        for (int i = 0; i < inner; ++i) {                                 \
          y[begin + i] = from[i * d->stride[0]] / (real)d->divisor;       \
        }                                                                 \
      }                                                                   \
    }                                                                     \
  }

#endif
