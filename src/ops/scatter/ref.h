#include "ops/families/indexed/indexed_dims.h"

/* y = x, then source (NULL: the fill of the walk) replaces the elements that the index names.
   index, source: the dense tensor of indexed_dims, y, x: the other one; y may be x. */
static void scatter_ref(real* y, const real* x, const int32_t* index, const real* source,
                        const indexed_dims* d) {
  const size_t bytes = (size_t)d->walk.other * sizeof(real);
  if (bytes > 0 && x != y) memcpy(y, x, bytes);
  for (int begin = 0; begin < d->walk.n; begin += d->walk.size[0]) {
    const ptrdiff_t at = strided_offset(begin, &d->walk);
    for (int i = 0; i < d->walk.size[0]; ++i) {
      const int32_t place = index[begin + i];
      if (place < 0 || place >= d->size) continue;
      y[at + (ptrdiff_t)i * d->walk.stride[0] + (ptrdiff_t)place * d->step] =
          source ? source[begin + i] : (real)d->walk.fill;
    }
  }
}
