#include "ops/families/indexed/indexed_dims.h"

/* y = the elements of x that the index names, for the elements [begin, end) of the index, both
   multiples of the innermost axis. */
static void gather_part(unsigned char* y, const unsigned char* x, const int32_t* index,
                        const indexed_dims* d, int begin, int end) {
  const size_t bytes = COPY_BYTES(d->walk.element);
  const real missing = (real)NAN;
  /* Copies, which the stores of characters below cannot change. */
  const ptrdiff_t stride = d->walk.stride[0];
  const ptrdiff_t step = d->step;
  const int32_t size = d->size;
  const int inner = d->walk.size[0];
  for (; begin < end; begin += inner) {
    const ptrdiff_t at = strided_offset(begin, &d->walk);
    for (int i = 0; i < inner; ++i) {
      const int32_t place = index[begin + i];
      const ptrdiff_t from = at + i * stride + place * step;
      unsigned char* to = y + (size_t)(begin + i) * bytes;
      const unsigned char* element = x + from * (ptrdiff_t)bytes;
      if (place >= 0 && place < size) {
        if (bytes == 4) {
          memcpy(to, element, 4); /* a size known to the compiler costs no call */
        } else {
          memcpy(to, element, bytes);
        }
      } else if (d->walk.element.is_real) {
        memcpy(to, &missing, bytes);
      } else {
        memset(to, d->missing, bytes);
      }
    }
  }
}

/* All of y, of packed elements. */
static void gather_packed(unsigned char* y, const unsigned char* x, const int32_t* index,
                          const indexed_dims* d) {
  const int bits = d->walk.element.bits;
  const int inner = d->walk.size[0];
  for (int begin = 0; begin < d->walk.n; begin += inner) {
    const ptrdiff_t at = strided_offset(begin, &d->walk);
    for (int i = 0; i < inner; ++i) {
      const int32_t place = index[begin + i];
      const ptrdiff_t from = at + (ptrdiff_t)i * d->walk.stride[0] + (ptrdiff_t)place * d->step;
      copy_packed(y, begin + i, place >= 0 && place < d->size ? x : NULL, from, 1, 1, bits);
    }
  }
  copy_clear_rest(y, d->walk.n, bits);
}

/* All of y. index, y: see indexed_dims; no aliasing. */
static void gather_ref(unsigned char* y, const unsigned char* x, const int32_t* index,
                       const indexed_dims* d) {
  if (copy_is_packed(d->walk.element)) {
    gather_packed(y, x, index, d);
    return;
  }
  gather_part(y, x, index, d, 0, d->walk.n);
}
