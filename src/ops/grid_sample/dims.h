/* Sizes of grid_sample. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_GRID_SAMPLE_DIMS_H_
#define THIMBLE_OPS_GRID_SAMPLE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

enum { GRID_BILINEAR = 0, GRID_NEAREST = 1, GRID_BICUBIC = 2 };
enum { GRID_ZEROS = 0, GRID_BORDER = 1, GRID_REFLECTION = 2 };

/* axes 2: images [n, h, w, c] at grids [n, p, q, 2]: [n, p, q, c], depth and o are 1. axes 3:
   volumes [n, depth, h, w, c] at grids [n, o, p, q, 3]: [n, o, p, q, c]. */
typedef struct grid_sample_dims {
  int axes;
  int n;
  int depth;
  int h;
  int w;
  int c;
  int o;
  int p;
  int q;
  int mode;
  int padding;
  int align_corners;
} grid_sample_dims;

#endif
