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
  int cubic;  /* 1: a curve through four of a side */
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

/* The cells around a place of int8 images, whose weights are whole numbers of 1/1024, as in
   TensorFlow Lite's reference kernel. */
typedef struct upsample_steps {
  int first;
  int second;
  int64_t weight; /* of the second; that of the first is 1024 less it */
} upsample_steps;

static inline upsample_steps upsample_fixed(int i, const upsample_axis* a) {
  const int64_t from = a->from;
  const int64_t to = a->to;
  const int corners = a->shift == 0 && to > 1;
  const int64_t scale =
      corners ? (1024 * (from - 1) + (to - 1) / 2) / (to - 1) : (1024 * from + to / 2) / to;
  const int64_t at = a->shift == 0 ? i * scale : i * scale + scale / 2 - 512;
  upsample_steps cells;
  cells.first = at <= 0 ? 0 : at / 1024 < from ? (int)(at / 1024) : a->from - 1;
  cells.second = (at + 1023) / 1024 < from ? (int)((at + 1023) / 1024) : a->from - 1;
  cells.weight = at - 1024 * (int64_t)cells.first;
  return cells;
}

/* The four cells around a place, those beyond the image being its outermost, and their weights.
   Source: Keys, "Cubic convolution interpolation for digital image processing", 1981. */
typedef struct upsample_taps {
  int cell[4];
  double weight[4];
} upsample_taps;

static inline upsample_taps upsample_curve(int i, const upsample_axis* a) {
  const double k = -0.75;
  const double at = a->scale * (i + a->shift) - a->shift;
  int first = (int)at;
  if (first > at) --first; /* floor */
  const double t = at - first;
  const double u = 1 - t;
  upsample_taps taps;
  taps.weight[0] = ((k * (t + 1) - 5 * k) * (t + 1) + 8 * k) * (t + 1) - 4 * k;
  taps.weight[1] = ((k + 2) * t - (k + 3)) * t * t + 1;
  taps.weight[2] = ((k + 2) * u - (k + 3)) * u * u + 1;
  taps.weight[3] = ((k * (u + 1) - 5 * k) * (u + 1) + 8 * k) * (u + 1) - 4 * k;
  for (int j = 0; j < 4; ++j) {
    const int cell = first - 1 + j;
    taps.cell[j] = cell < 0 ? 0 : cell < a->from ? cell : a->from - 1;
  }
  return taps;
}

#endif
