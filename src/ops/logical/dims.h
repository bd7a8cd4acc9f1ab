/* Sizes of logic. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_LOGICAL_DIMS_H_
#define THIMBLE_OPS_LOGICAL_DIMS_H_

#include "ir/element.h"
#include "ops/families/nary/nary_dims.h"

typedef struct logical_dims {
  nary_dims walk;
  int type[2]; /* of the elements: ELEMENT_F32 (double where real is), ... */
} logical_dims;

/* Defines <op>_part: y = the value, an expression in a and b (0 or 1), for the elements of the
   result from `begin` to `end`, both multiples of the innermost axis. a, b: see nary_dims, b NULL
   for an op of one input; y: [n]. */
#define LOGICAL_PART(op, value)                                                                    \
  static void op##_part(uint8_t* y, const void* a_, const void* b_, const logical_dims* d,         \
                        int begin, int end) {                                                      \
    const nary_dims* w = &d->walk;                                                                 \
    for (; begin < end; begin += w->size[0]) {                                                     \
      ptrdiff_t at[NARY_MAX_INPUTS];                                                               \
      nary_offsets(at, begin, w);                                                                  \
      for (int i = 0; i < w->size[0]; ++i) {                                                       \
        const int a = logical_holds(a_, at[0] + (ptrdiff_t)i * w->stride[0][0], d->type[0]);       \
        const int b = b_ && logical_holds(b_, at[1] + (ptrdiff_t)i * w->stride[1][0], d->type[1]); \
        (void)b;                                                                                   \
        y[begin + i] = (uint8_t)(value);                                                           \
      }                                                                                            \
    }                                                                                              \
  }

/* Defines <op>_part and <op>_ref, all elements, for an op of two inputs. */
#define LOGICAL_REF(op, value)                                                            \
  LOGICAL_PART(op, value)                                                                 \
  static void op##_ref(uint8_t* y, const void* a, const void* b, const logical_dims* d) { \
    op##_part(y, a, b, d, 0, d->walk.n);                                                  \
  }

#endif
