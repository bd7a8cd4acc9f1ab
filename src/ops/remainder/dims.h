/* Sizes of remainders. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_REMAINDER_DIMS_H_
#define THIMBLE_OPS_REMAINDER_DIMS_H_

#include "ir/element.h"
#include "ops/families/nary/nary_dims.h"

typedef struct remainder_dims {
  nary_dims walk;
  int type; /* of the elements: ELEMENT_F32 (double where real is), ELEMENT_I32, ELEMENT_I64 */
} remainder_dims;

/* Whole numbers, where no result overflows: by 0 all of them are 0. */
static inline int64_t remainder_fmod_int(int64_t a, int64_t b) {
  return b == 0 || b == -1 ? 0 : a % b;
}
static inline int64_t remainder_int(int64_t a, int64_t b) {
  const int64_t rest = remainder_fmod_int(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline int64_t remainder_floor_int(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0U - (uint64_t)a);
  return a / b - (remainder_fmod_int(a, b) != 0 && (a < 0) != (b < 0));
}

#define REMAINDER_RUN(T, number, value)                                      \
  for (int i = 0; i < w->size[0]; ++i) {                                     \
    const number a = ((const T*)a_)[at[0] + (ptrdiff_t)i * w->stride[0][0]]; \
    const number b = ((const T*)b_)[at[1] + (ptrdiff_t)i * w->stride[1][0]]; \
    ((T*)y)[begin + i] = (T)(value);                                         \
  }

/* Defines <op>_part: y = real_value or int_value, expressions in a and b, for the elements of the
   result from `begin` to `end`, both multiples of the innermost axis; and <op>_ref for all of them.
   a, b: see nary_dims; y: [n]. */
#define REMAINDER_REF(op, real_value, int_value)                                                  \
  static void op##_part(void* y, const void* a_, const void* b_, const remainder_dims* d,         \
                        int begin, int end) {                                                     \
    const nary_dims* w = &d->walk;                                                                \
    for (; begin < end; begin += w->size[0]) {                                                    \
      ptrdiff_t at[NARY_MAX_INPUTS];                                                              \
      nary_offsets(at, begin, w);                                                                 \
      if (d->type == ELEMENT_F32) {                                                               \
        REMAINDER_RUN(real, real, real_value)                                                     \
      } else if (d->type == ELEMENT_I32) {                                                        \
        REMAINDER_RUN(int32_t, int64_t, int_value)                                                \
      } else {                                                                                    \
        REMAINDER_RUN(int64_t, int64_t, int_value)                                                \
      }                                                                                           \
    }                                                                                             \
  }                                                                                               \
  static void op##_ref(unsigned char* y, const void* a, const void* b, const remainder_dims* d) { \
    op##_part(y, a, b, d, 0, d->walk.n);                                                          \
  }

#endif
