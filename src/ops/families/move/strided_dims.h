/* A regular selection of the elements of a tensor. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_STRIDED_DIMS_H
#define THIMBLE_OPS_COMMON_STRIDED_DIMS_H

#include <stddef.h>

#include "ops/families/move/copy_dims.h"

/* Element [.., i1, i0] of a dense tensor of these sizes, innermost first, belongs to element
   offset + i0 stride[0] + i1 stride[1] + .. of the other tensor. */
typedef struct {
  int n;     /* elements of the dense tensor */
  int other; /* elements of the other one */
  int count; /* axes, at least 1 */
  int size[8];
  int stride[8];
  int offset;
  copy_element element;
  double fill; /* what the other tensor holds elsewhere, where it is written */
} strided_dims;

/* Where the run of the innermost axis begins that holds a dense element number (a multiple of
   size[0]). */
static inline ptrdiff_t strided_offset(int number, const strided_dims* d) {
  ptrdiff_t at = d->offset;
  number /= d->size[0];
  for (int a = 1; a < d->count; ++a) {
    at += (ptrdiff_t)(number % d->size[a]) * d->stride[a];
    number /= d->size[a];
  }
  return at;
}

/* The dense y from the other tensor x, of packed elements; no aliasing. */
static inline void strided_gather_packed(unsigned char* y, const unsigned char* x,
                                         const strided_dims* d) {
  const int inner = d->size[0];
  const int bits = d->element.bits;
  for (int begin = 0; begin < d->n; begin += inner) {
    copy_packed(y, begin, x, strided_offset(begin, d), d->stride[0], inner, bits);
  }
  copy_clear_rest(y, d->n, bits);
}

/* y, filled but for the places of the dense x, of packed elements; no aliasing. */
static inline void strided_scatter_packed(unsigned char* y, const unsigned char* x,
                                          const strided_dims* d) {
  const int inner = d->size[0];
  const int bits = d->element.bits;
  for (int i = 0; i < d->other; ++i) element_store_packed(y, bits, i, (int64_t)d->fill & 15);
  for (int begin = 0; begin < d->n; begin += inner) {
    const ptrdiff_t to = strided_offset(begin, d);
    for (int i = 0; i < inner; ++i) {
      copy_packed(y, to + i * (ptrdiff_t)d->stride[0], x, begin + i, 1, 1, bits);
    }
  }
  copy_clear_rest(y, d->other, bits);
}

/* Defines <op>_ref: the dense y from the other tensor x; no aliasing. */
#define STRIDED_GATHER_REF(op)                                                                 \
  static void op##_ref(unsigned char* y, const unsigned char* x, const strided_dims* d) {      \
    if (copy_is_packed(d->element)) {                                                          \
      strided_gather_packed(y, x, d);                                                          \
      return;                                                                                  \
    }                                                                                          \
    const size_t bytes = COPY_BYTES(d->element);                                               \
    const int inner = d->size[0];                                                              \
    for (int begin = 0; begin < d->n; begin += inner, y += (size_t)inner * bytes) {            \
      const unsigned char* from = x + strided_offset(begin, d) * (ptrdiff_t)bytes;             \
      const ptrdiff_t step = d->stride[0] * (ptrdiff_t)bytes;                                  \
      if (d->stride[0] == 1) {                                                                 \
        memcpy(y, from, (size_t)inner* bytes);                                                 \
      } else {                                                                                 \
        for (int i = 0; i < inner; ++i) memcpy(y + (size_t)i * bytes, from + i * step, bytes); \
      }                                                                                        \
    }                                                                                          \
  }

/* Defines <op>_ref: y, filled but for the places of the dense x; no aliasing. */
#define STRIDED_SCATTER_REF(op)                                         \
  static void op##_ref(real* y, const real* x, const strided_dims* d) { \
    const int inner = d->size[0];                                       \
    const ptrdiff_t step = d->stride[0];                                \
    for (int i = 0; i < d->other; ++i) y[i] = (real)d->fill;            \
    for (int begin = 0; begin < d->n; begin += inner) {                 \
      real* to = y + strided_offset(begin, d);                          \
      for (int i = 0; i < inner; ++i) to[i * step] = x[begin + i];      \
    }                                                                   \
  }

#endif
