/* Sizes of grid_sample. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_GRID_SAMPLE_DIMS_H_
#define THIMBLE_OPS_GRID_SAMPLE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

enum { GRID_BILINEAR = 0, GRID_NEAREST = 1, GRID_BICUBIC = 2 };
enum { GRID_ZEROS = 0, GRID_BORDER = 1, GRID_REFLECTION = 2 };

/* Images [n, h, w, c] at grids [n, p, q, 2]: [n, p, q, c]. */
typedef struct grid_sample_dims {
  int n;
  int h;
  int w;
  int c;
  int p;
  int q;
  int mode;
  int padding;
  int align_corners;
} grid_sample_dims;

#endif
