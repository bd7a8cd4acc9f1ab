/* Sizes of kernels that move elements of any type unchanged. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_COPY_DIMS_H
#define THIMBLE_OPS_COMMON_COPY_DIMS_H

#include <stddef.h>

#include "ir/element.h"

/* An element as such kernels see it: float32 tensors hold `real`, which is double in the gradient
   check; all others hold elements of `bits` bits. Those of 1 and 4 bits are packed. */
typedef struct {
  int is_real;
  int bits;
} copy_element;

typedef struct {
  int n; /* elements; of packed ones bytes */
  copy_element element;
} copy_dims;

/* Bytes of one element that is not packed, for use where `real` is defined. */
#define COPY_BYTES(element) ((element).is_real ? sizeof(real) : (size_t)(element).bits / 8)

static inline int copy_is_packed(copy_element element) { return element.bits < 8; }

/* Copies packed elements x[from], x[from + step], ... to y[to], y[to + 1], ...; the other elements
   of a byte of y stay. Where x is null, zeros. */
static inline void copy_packed(unsigned char* y, ptrdiff_t to, const unsigned char* x,
                               ptrdiff_t from, ptrdiff_t step, ptrdiff_t count, int bits) {
  for (ptrdiff_t i = 0; i < count; ++i, from += step) {
    const int value = x ? x[from * bits / 8] >> (from * bits % 8) : 0;
    element_store_packed(y, bits, to + i, value);
  }
}

/* Zeros the rest of the byte in which the last of count packed elements ends. */
static inline void copy_clear_rest(unsigned char* y, ptrdiff_t count, int bits) {
  const ptrdiff_t used = count * bits;
  if (used % 8 != 0) y[used / 8] &= (unsigned char)((1 << (used % 8)) - 1);
}

#endif
