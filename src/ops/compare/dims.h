/* Sizes of comparisons. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMPARE_DIMS_H_
#define THIMBLE_OPS_COMPARE_DIMS_H_

#include "ops/families/nary/nary_dims.h"

typedef struct compare_dims {
  nary_dims walk;
  int is_real; /* 1: float32 tensors; 0: int32 */
} compare_dims;

/* Defines <op>_part: y = 1 where the comparison holds, else 0, for the elements of the result from
   `begin` to `end`, both multiples of the innermost axis; and <op>_ref for all of them. a, b: see
   nary_dims; y: [n]. */
#define COMPARE_REF(op, sign)                                                                \
  static void op##_part(uint8_t* y, const void* a, const void* b, const compare_dims* d,     \
                        int begin, int end) {                                                \
    const nary_dims* w = &d->walk;                                                           \
    for (; begin < end; begin += w->size[0]) {                                               \
      ptrdiff_t at[NARY_MAX_INPUTS];                                                         \
      nary_offsets(at, begin, w);                                                            \
      for (int i = 0; i < w->size[0]; ++i) {                                                 \
        const ptrdiff_t at_a = at[0] + (ptrdiff_t)i * w->stride[0][0];                       \
        const ptrdiff_t at_b = at[1] + (ptrdiff_t)i * w->stride[1][0];                       \
        y[begin + i] = d->is_real ? ((const real*)a)[at_a] sign((const real*)b)[at_b]        \
                                  : ((const int32_t*)a)[at_a] sign((const int32_t*)b)[at_b]; \
      }                                                                                      \
    }                                                                                        \
  }                                                                                          \
  static void op##_ref(uint8_t* y, const void* a, const void* b, const compare_dims* d) {    \
    op##_part(y, a, b, d, 0, d->walk.n);                                                     \
  }

#endif
