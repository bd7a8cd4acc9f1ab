/* Sizes of ops on bits. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_BITWISE_DIMS_H_
#define THIMBLE_OPS_BITWISE_DIMS_H_

#include "ir/element.h"
#include "ops/families/nary/nary_dims.h"

typedef struct bitwise_dims {
  nary_dims walk;
  int type; /* of the elements: ELEMENT_I32, ... */
} bitwise_dims;

static inline int64_t bitwise_left(int64_t a, int64_t b, int bits) {
  return b < 0 || b >= bits ? 0 : (int64_t)((uint64_t)a << b);
}
static inline int64_t bitwise_right(int64_t a, int64_t b, int bits) {
  return b < 0 || b >= bits ? (a < 0 ? -1 : 0) : a >> b;
}

#define BITWISE_RUN(type, value)                                                          \
  for (int i = 0; i < w->size[0]; ++i) {                                                  \
    const int bits = 8 * (int)sizeof(type);                                               \
    const int64_t a = ((const type*)a_)[at[0] + (ptrdiff_t)i * w->stride[0][0]];          \
    const int64_t b = b_ ? ((const type*)b_)[at[1] + (ptrdiff_t)i * w->stride[1][0]] : 0; \
    (void)b;                                                                              \
    (void)bits;                                                                           \
    ((type*)y)[begin + i] = (type)(value);                                                \
  }

/* Defines <op>_part: y = the value, an expression in a, b and the bits of the type, for the
   elements of the result from `begin` to `end`, both multiples of the innermost axis. a, b: see
   nary_dims, b NULL for an op of one input; y: [n]. */
#define BITWISE_PART(op, value)                                                                  \
  static void op##_part(unsigned char* y, const void* a_, const void* b_, const bitwise_dims* d, \
                        int begin, int end) {                                                    \
    const nary_dims* w = &d->walk;                                                               \
    for (; begin < end; begin += w->size[0]) {                                                   \
      ptrdiff_t at[NARY_MAX_INPUTS];                                                             \
      nary_offsets(at, begin, w);                                                                \
      switch (d->type) {                                                                         \
        case ELEMENT_I64:                                                                        \
          BITWISE_RUN(int64_t, value) break;                                                     \
        case ELEMENT_I16:                                                                        \
          BITWISE_RUN(int16_t, value) break;                                                     \
        case ELEMENT_I8:                                                                         \
          BITWISE_RUN(int8_t, value) break;                                                      \
        case ELEMENT_U32:                                                                        \
          BITWISE_RUN(uint32_t, value) break;                                                    \
        case ELEMENT_U8:                                                                         \
          BITWISE_RUN(uint8_t, value) break;                                                     \
        default:                                                                                 \
          BITWISE_RUN(int32_t, value) break;                                                     \
      }                                                                                          \
    }                                                                                            \
  }

/* Defines <op>_part and <op>_ref, all elements, for an op of two inputs. */
#define BITWISE_REF(op, value)                                                                  \
  BITWISE_PART(op, value)                                                                       \
  static void op##_ref(unsigned char* y, const void* a, const void* b, const bitwise_dims* d) { \
    op##_part(y, a, b, d, 0, d->walk.n);                                                        \
  }

#endif
