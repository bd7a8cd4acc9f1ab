#include "ops/index_select/dims.h"

/* One slice [inner] of x: y[o, i] = x[o, index[i]]. */
static void index_select_slice(unsigned char* y, const unsigned char* x, const int32_t* index,
                               int o, int i, const index_select_dims* d) {
  const size_t bytes = COPY_BYTES(d->element);
  const size_t run = (size_t)d->along.inner * bytes;
  unsigned char* to = y + ((size_t)o * (size_t)d->count + (size_t)i) * run;
  if (index[i] >= 0 && index[i] < d->along.size) {
    if (run > 0) {
      memcpy(to, x + ((size_t)o * (size_t)d->along.size + (size_t)index[i]) * run, run);
    }
    return;
  }
  const real missing = (real)NAN;
  for (size_t at = 0; at < run; at += bytes) {
    if (d->element.is_real) {
      memcpy(to + at, &missing, bytes);
    } else {
      memset(to + at, d->missing, bytes);
    }
  }
}

/* index_select_ref of packed elements. */
static void index_select_packed(unsigned char* y, const unsigned char* x, const int32_t* index,
                                const index_select_dims* d) {
  const ptrdiff_t inner = d->along.inner;
  const int bits = d->element.bits;
  for (ptrdiff_t row = 0; row < (ptrdiff_t)d->along.outer * d->count; ++row) {
    const int32_t place = index[row % d->count];
    const ptrdiff_t from = (row / d->count * d->along.size + place) * inner;
    const int is_there = place >= 0 && place < d->along.size;
    copy_packed(y, row * inner, is_there ? x : NULL, from, 1, inner, bits);
  }
  copy_clear_rest(y, (ptrdiff_t)d->along.outer * d->count * inner, bits);
}

/* y: [outer, count, inner], x: [outer, size, inner], index: [count]; no aliasing. */
static void index_select_ref(unsigned char* y, const unsigned char* x, const int32_t* index,
                             const index_select_dims* d) {
  if (copy_is_packed(d->element)) {
    index_select_packed(y, x, index, d);
    return;
  }
  if (d->along.inner == 1 && d->element.bits == 8) {
    for (int o = 0; o < d->along.outer; ++o, x += d->along.size, y += d->count) {
      for (int i = 0; i < d->count; ++i) {
        const int32_t place = index[i];
        y[i] = place >= 0 && place < d->along.size ? x[place] : 0;
      }
    }
    return;
  }
  for (int o = 0; o < d->along.outer; ++o) {
    for (int i = 0; i < d->count; ++i) index_select_slice(y, x, index, o, i, d);
  }
}

/* dx = the sums of the slices of dy that were taken from each place, for the columns [begin, end)
   of the outer index o. */
static void index_select_grad_columns(real* dx, const real* dy, const int32_t* index, int o,
                                      int begin, int end, const index_select_dims* d) {
  const ptrdiff_t inner = d->along.inner;
  dx += (ptrdiff_t)o * d->along.size * inner;
  dy += (ptrdiff_t)o * d->count * inner;
  for (int i = 0; i < d->count; ++i) {
    if (index[i] < 0 || index[i] >= d->along.size) continue;
    for (int c = begin; c < end; ++c) dx[index[i] * inner + c] += dy[i * inner + c];
  }
}

/* dx = the sums of the slices of dy that were taken from each place. dx: [outer, size, inner], dy:
   [outer, count, inner]. */
static void index_select_grad_ref(real* dx, const real* dy, const int32_t* index,
                                  const index_select_dims* d) {
  const size_t size = (size_t)d->along.outer * (size_t)d->along.size * (size_t)d->along.inner;
  if (size > 0) memset(dx, 0, size * sizeof(real));
  for (int o = 0; o < d->along.outer; ++o) {
    index_select_grad_columns(dx, dy, index, o, 0, d->along.inner, d);
  }
}
