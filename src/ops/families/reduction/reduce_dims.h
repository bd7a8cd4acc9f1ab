/* How a reduction walks over a tensor. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_REDUCE_DIMS_H
#define THIMBLE_OPS_COMMON_REDUCE_DIMS_H

#include <stddef.h>

/* Some axes of a row-major tensor, the innermost first; neighbours are merged and axes of size 1
   left out, so that 8 axes leave at most 4 of each kind. */
typedef struct {
  int count;
  int size[4];
  int stride[4]; /* elements from one index to the next */
} reduce_axes;

typedef struct {
  int outputs;      /* elements of the result */
  int reduced;      /* elements that each of them is made of */
  int divisor;      /* what a sum is divided by: 1, or `reduced` for a mean */
  reduce_axes kept; /* axes of the result */
  reduce_axes over; /* axes that vanish */
} reduce_dims;

/* Where the element with a row-major number among these axes lies. */
static inline int reduce_offset(int number, const reduce_axes* axes) {
  int offset = 0;
  for (int a = 0; a < axes->count; ++a) {
    offset += number % axes->size[a] * axes->stride[a];
    number /= axes->size[a];
  }
  return offset;
}

/* Defines <op>_ref: y[o] = sum of its `reduced` elements of x, / divisor. y: [outputs]; x: see
   reduce_dims; no aliasing. Neighbours are summed block by block, so that rounding grows with the
   number of blocks and not of elements. */
#define SUM_REF(op)                                                          \
  static void op##_ref(real* y, const real* x, const reduce_dims* d) {       \
    const int inner = d->over.count > 0 ? d->over.size[0] : 1;               \
    const ptrdiff_t stride = d->over.count > 0 ? d->over.stride[0] : 1;      \
    for (int o = 0; o < d->outputs; ++o) {                                   \
      const real* line = x + reduce_offset(o, &d->kept);                     \
      wide total = 0;                                                        \
      for (int r = 0; r < d->reduced; r += inner) {                          \
        const real* from = line + reduce_offset(r, &d->over);                \
        for (int begin = 0; begin < inner; begin += 128) {                   \
          const int end = inner - begin < 128 ? inner : begin + 128;         \
          wide block = 0;                                                    \
          for (int i = begin; i < end; ++i) block += (wide)from[i * stride]; \
          total += block;                                                    \
        }                                                                    \
      }                                                                      \
      y[o] = (real)(total / (wide)d->divisor);                               \
    }                                                                        \
  }

#endif
