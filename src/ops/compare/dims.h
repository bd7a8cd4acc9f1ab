/* Sizes of comparisons. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMPARE_DIMS_H_
#define THIMBLE_OPS_COMPARE_DIMS_H_

#include "ir/element.h"
#include "ops/families/nary/nary_dims.h"

typedef struct compare_dims {
  nary_dims walk;
  int type; /* of the elements: ELEMENT_F32 (double where real is), ... */
} compare_dims;

/* y = 1 where the comparison holds, else 0, along a run of the innermost axis. */
#define COMPARE_RUN(y, T, a, sign, b, at, w)                                     \
  for (int i = 0; i < (w)->size[0]; ++i) {                                       \
    const T left = ((const T*)(a))[(at)[0] + (ptrdiff_t)i * (w)->stride[0][0]];  \
    const T right = ((const T*)(b))[(at)[1] + (ptrdiff_t)i * (w)->stride[1][0]]; \
    (y)[i] = left sign right;                                                    \
  }

/* The same of numbers that load(x, type, i) gives. */
#define COMPARE_LOADED(y, load, a, sign, b, at, d)                                \
  for (int i = 0; i < (d)->walk.size[0]; ++i) {                                   \
    (y)[i] = load(a, (d)->type, (at)[0] + (ptrdiff_t)i * (d)->walk.stride[0][0])  \
        sign load(b, (d)->type, (at)[1] + (ptrdiff_t)i * (d)->walk.stride[1][0]); \
  }

/* Defines <op>_part: y = 1 where the comparison holds, else 0, for the elements of the result from
   `begin` to `end`, both multiples of the innermost axis; and <op>_ref for all of them. a, b: see
   nary_dims; y: [n]. */
#define COMPARE_REF(op, sign)                                                             \
  static void op##_part(uint8_t* y, const void* a, const void* b, const compare_dims* d,  \
                        int begin, int end) {                                             \
    const nary_dims* w = &d->walk;                                                        \
    for (; begin < end; begin += w->size[0]) {                                            \
      ptrdiff_t at[NARY_MAX_INPUTS];                                                      \
      nary_offsets(at, begin, w);                                                         \
      uint8_t* const to = y + begin;                                                      \
      if (d->type == ELEMENT_F32) {                                                       \
        COMPARE_RUN(to, real, a, sign, b, at, w)                                          \
      } else if (d->type == ELEMENT_I32) {                                                \
        COMPARE_RUN(to, int32_t, a, sign, b, at, w)                                       \
      } else if (element_is_floating(d->type)) {                                          \
        COMPARE_LOADED(to, element_load_real, a, sign, b, at, d)                          \
      } else {                                                                            \
        COMPARE_LOADED(to, element_load_int, a, sign, b, at, d)                           \
      }                                                                                   \
    }                                                                                     \
  }                                                                                       \
  static void op##_ref(uint8_t* y, const void* a, const void* b, const compare_dims* d) { \
    op##_part(y, a, b, d, 0, d->walk.n);                                                  \
  }

#endif
