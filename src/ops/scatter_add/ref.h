#include "ops/families/indexed/indexed_dims.h"

/* y = x (NULL: zeros), then source is added to the elements that the index names. index, source:
   the dense tensor of indexed_dims, y, x: the other one; y may be x. */
static void scatter_add_ref(real* y, const real* x, const int32_t* index, const real* source,
                            const indexed_dims* d) {
  const size_t bytes = (size_t)d->walk.other * sizeof(real);
  if (bytes > 0 && !x) memset(y, 0, bytes);
  if (bytes > 0 && x && x != y) memcpy(y, x, bytes);
  for (int begin = 0; begin < d->walk.n; begin += d->walk.size[0]) {
    const ptrdiff_t at = strided_offset(begin, &d->walk);
    for (int i = 0; i < d->walk.size[0]; ++i) {
      const int32_t place = index[begin + i];
      if (place < 0 || place >= d->size) continue;
      real* to = y + at + (ptrdiff_t)i * d->walk.stride[0] + (ptrdiff_t)place * d->step;
      *to = (real)((wide)*to + (wide)source[begin + i]);
    }
  }
}

/* As scatter_add to zeros. */
static void gather_grad_ref(real* dx, const real* dy, const int32_t* index, const indexed_dims* d) {
  scatter_add_ref(dx, NULL, index, dy, d);
}
