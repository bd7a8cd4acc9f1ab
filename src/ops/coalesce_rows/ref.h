#include "ops/coalesce_rows/dims.h"

/* sums: [count, width], may be the memory of dy; rows: [count], no aliasing; dy: [count, width];
   indices: [count]. Sums stand in the order in which their rows appear first, so that none is
   written before the row that stood there was read. */
static void coalesce_rows_ref(real* sums, int32_t* rows, const real* dy, const int32_t* indices,
                              const coalesce_dims* d) {
  const ptrdiff_t width = d->width;
  int used = 0;
  for (int i = 0; i < d->count; ++i) {
    int slot = 0;
    if (!coalesce_counts(d, indices[i])) continue;
    while (slot < used && rows[slot] != indices[i]) ++slot;
    if (slot == used) {
      rows[used++] = indices[i];
      for (ptrdiff_t c = 0; c < width; ++c) sums[slot * width + c] = dy[i * width + c];
    } else {
      for (ptrdiff_t c = 0; c < width; ++c) sums[slot * width + c] += dy[i * width + c];
    }
  }
  for (int slot = 0; d->mean && slot < used; ++slot) {
    int times = 0;
    for (int i = 0; i < d->count; ++i) times += indices[i] == rows[slot];
    for (ptrdiff_t c = 0; c < width; ++c) sums[slot * width + c] /= (real)times;
  }
  for (int slot = used; slot < d->count; ++slot) {
    rows[slot] = -1;
    for (ptrdiff_t c = 0; c < width; ++c) sums[slot * width + c] = 0;
  }
}

/* dense: [rows, width], sums: [count, width], indices: [count]; no aliasing. */
static void dense_rows_ref(real* dense, const real* sums, const int32_t* indices,
                           const coalesce_dims* d) {
  const ptrdiff_t width = d->width;
  for (ptrdiff_t at = 0; at < d->rows * width; ++at) dense[at] = 0;
  for (int slot = 0; slot < d->count && indices[slot] >= 0; ++slot) {
    if (indices[slot] >= d->rows) continue;
    for (ptrdiff_t c = 0; c < width; ++c) dense[indices[slot] * width + c] = sums[slot * width + c];
  }
}
