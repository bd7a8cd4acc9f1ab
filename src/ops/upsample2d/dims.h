/* How the pixels of a resized image lie in the image. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_UPSAMPLE2D_DIMS_H_
#define THIMBLE_OPS_UPSAMPLE2D_DIMS_H_

#include <stddef.h>

/* One side: place i of the result lies at scale * (i + shift) - shift of the image. */
typedef struct upsample_axis {
  int from; /* cells of the image */
  int to;   /* cells of the result */
  double scale;
  double shift; /* 0 or 1/2 */
} upsample_axis;

typedef struct upsample2d_dims {
  int n;
  int c;
  int linear; /* 1: between neighbours; 0: the nearest */
  upsample_axis h;
  upsample_axis w;
} upsample2d_dims;

/* The cells around a place, and the weight of the second. */
typedef struct upsample_cells {
  int first;
  int second;
  double weight;
} upsample_cells;

/* PyTorch finds the nearest cell in float, and so do we: at exact middles it matters. */
static inline upsample_cells upsample_place(int i, const upsample_axis* a, int linear) {
  upsample_cells cells = {0, 0, 0};
  if (!linear) {
    const int at = (int)(((float)i + (float)a->shift) * (float)a->scale);
    cells.first = cells.second = at < a->from ? at : a->from - 1;
    return cells;
  }
  double at = a->scale * (i + a->shift) - a->shift;
  if (at < 0) at = 0;
  cells.first = (int)at < a->from ? (int)at : a->from - 1;
  cells.second = cells.first + 1 < a->from ? cells.first + 1 : cells.first;
  cells.weight = at - cells.first;
  return cells;
}

#endif
