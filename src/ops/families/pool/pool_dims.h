/* The sizes of 2-D pooling, as its kernels see them. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_POOL_DIMS_H_
#define THIMBLE_OPS_COMMON_POOL_DIMS_H_

#include <stddef.h>
#include <stdint.h>

/* Row-major NHWC images: the input is [n, h, w, c], the output [n, p, q, c], the window r x s.
   Padding is never stored and every window holds at least one cell of the image. */
typedef struct pool_dims {
  int n;
  int h, w, c;
  int p, q;
  int r, s;
  int stride_h, stride_w;
  int dilation_h, dilation_w; /* from one cell of the window to the next */
  int pad_top, pad_left, pad_bottom, pad_right;
  int count_include_pad; /* average: 1 divides by the cells inside the padded image, 0 by those
                            inside the image */
  int divisor;           /* average: divides by this where it is not 0 */
  int wide_index;        /* max: 1 keeps places in the window as int32, 0 as uint8 */
  int place_bits;        /* max: the bits of a packed place: 1, 2 or 4 */
} pool_dims;

typedef struct {
  int n;     /* places */
  int width; /* bits of a packed one: 1, 2 or 4 */
} pool_pack_dims;

/* The cells begin, begin + dilation, ... < end of an image of `size` that the window at `place`
   covers. */
typedef struct pool_range {
  int begin, end;
} pool_range;

static inline pool_range pool_cells(int place, int stride, int pad, int dilation, int window,
                                    int size) {
  const int first = place * stride - pad;
  const int end = first + (window - 1) * dilation + 1;
  const int outside = first < 0 ? (dilation - 1 - first) / dilation * dilation : 0;
  const pool_range range = {first + outside, end > size ? size : end};
  return range;
}

/* The windows [begin, end) of `places` that reach over a cell, from those that cover the cell
   before it; start from {0, 0} and cell 0. */
static inline pool_range pool_windows(pool_range before, int cell, int stride, int pad, int extent,
                                      int places) {
  pool_range range = before;
  while (range.end < places && range.end * stride - pad <= cell) ++range.end;
  while (range.begin < range.end && range.begin * stride - pad + extent <= cell) ++range.begin;
  return range;
}

/* What the sum over the window at (p, q), with these cells inside the image, is divided by. */
static inline int average_pool2d_count(int p, int q, pool_range rows, pool_range columns,
                                       const pool_dims* d) {
  if (d->divisor != 0) return d->divisor;
  if (!d->count_include_pad) return (rows.end - rows.begin) * (columns.end - columns.begin);
  const int top = p * d->stride_h - d->pad_top;
  const int left = q * d->stride_w - d->pad_left;
  const int height = d->h + d->pad_bottom - top;
  const int width = d->w + d->pad_right - left;
  return (height < d->r ? height : d->r) * (width < d->s ? width : d->s);
}

#endif
