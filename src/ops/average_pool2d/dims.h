#ifndef THIMBLE_OPS_AVERAGE_POOL2D_DIMS_H_
#define THIMBLE_OPS_AVERAGE_POOL2D_DIMS_H_

#include "ops/families/pool/pool_dims.h"

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
