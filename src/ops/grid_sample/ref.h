#include "ops/grid_sample/dims.h"

/* The pixels along one axis that a point reads: where they are (-1: outside, nothing is read),
   their weights, and the weights' derivatives by the coordinate of the grid. */
typedef struct {
  int count;
  int at[4];
  real weight[4];
  real slope[4];
} grid_taps;

/* A pixel coordinate reflected about the edges twice_low / 2 and twice_high / 2; *sign: its
   derivative. */
static real grid_reflected(real x, int twice_low, int twice_high, real* sign) {
  const real low = (real)twice_low / 2;
  const real span = (real)(twice_high - twice_low) / 2;
  real rest;
  real flips;
  if (span <= 0) {
    *sign = 0;
    return 0;
  }
  x -= low;
  if (x < 0) {
    x = -x;
    *sign = -*sign;
  }
  flips = (real)floor(x / span);
  rest = x - flips * span;
  if (flips - 2 * (real)floor(flips / 2) == 0) return rest + low;
  *sign = -*sign;
  return span - rest + low;
}

/* A pixel coordinate brought inside as the padding says. */
static real grid_inside(real x, int size, real* sign, const grid_sample_dims* d) {
  if (d->padding == GRID_ZEROS) return x;
  if (d->padding == GRID_REFLECTION) {
    x = d->align_corners ? grid_reflected(x, 0, 2 * (size - 1), sign)
                         : grid_reflected(x, -1, 2 * size - 1, sign);
  }
  if (x <= 0) {
    *sign = 0;
    return 0;
  }
  if (x >= (real)(size - 1)) {
    *sign = 0;
    return (real)(size - 1);
  }
  return x;
}

static int grid_pixel(real x, int size) { return x >= 0 && x < (real)size ? (int)x : -1; }

/* Of the pixel at distance x from the point: Keys's curve and its derivative, a = -3/4. */
static real grid_near(real x) { return ((real)1.25 * x - (real)2.25) * x * x + 1; }
static real grid_far(real x) { return (((real)-0.75 * x + (real)3.75) * x - 6) * x + 3; }
static real grid_near_slope(real x) { return ((real)3.75 * x - (real)4.5) * x; }
static real grid_far_slope(real x) { return ((real)-2.25 * x + (real)7.5) * x - 6; }

/* point: a coordinate of the grid; size: the pixels of the axis. */
static void grid_taps_of(grid_taps* t, real point, int size, const grid_sample_dims* d) {
  const real scale = (real)(d->align_corners ? size - 1 : size) / 2;
  real x = d->align_corners ? (point + 1) * scale : ((point + 1) * (real)size - 1) / 2;
  real sign = 1;
  /* No number and infinities are far outside, where padding still finds a pixel. */
  if (!(x > (real)-1e30)) x = (real)-1e30;
  if (x > (real)1e30) x = (real)1e30;
  if (d->mode == GRID_BICUBIC) {
    const real first = (real)floor(x);
    const real part = x - first;
    t->count = 4;
    t->weight[0] = grid_far(part + 1);
    t->weight[1] = grid_near(part);
    t->weight[2] = grid_near(1 - part);
    t->weight[3] = grid_far(2 - part);
    t->slope[0] = grid_far_slope(part + 1) * scale;
    t->slope[1] = grid_near_slope(part) * scale;
    t->slope[2] = -grid_near_slope(1 - part) * scale;
    t->slope[3] = -grid_far_slope(2 - part) * scale;
    for (int i = 0; i < 4; ++i) {
      t->at[i] = grid_pixel(grid_inside(first - 1 + (real)i, size, &sign, d), size);
    }
    return;
  }
  x = grid_inside(x, size, &sign, d);
  if (d->mode == GRID_NEAREST) {
    t->count = 1;
    t->at[0] = grid_pixel((real)rint(x), size);
    t->weight[0] = 1;
    t->slope[0] = 0;
    return;
  }
  {
    const real first = (real)floor(x);
    t->count = 2;
    t->at[0] = grid_pixel(first, size);
    t->at[1] = grid_pixel(first + 1, size);
    t->weight[1] = x - first;
    t->weight[0] = 1 - t->weight[1];
    t->slope[1] = sign * scale;
    t->slope[0] = -t->slope[1];
  }
}

/* The pixels that a point reads along each axis; an image has one along the depth. */
typedef struct {
  grid_taps across;
  grid_taps down;
  grid_taps deep;
} grid_block;

static void grid_block_of(grid_block* b, const real* point, const grid_sample_dims* d) {
  grid_taps_of(&b->across, point[0], d->w, d);
  grid_taps_of(&b->down, point[1], d->h, d);
  if (d->axes == 3) {
    grid_taps_of(&b->deep, point[2], d->depth, d);
    return;
  }
  b->deep.count = 1;
  b->deep.at[0] = 0;
  b->deep.weight[0] = 1;
  b->deep.slope[0] = 0;
}

/* Where pixel (k, i, j) of a block begins; -1: outside. */
static ptrdiff_t grid_place(const grid_block* b, int k, int i, int j, const grid_sample_dims* d) {
  if (b->deep.at[k] < 0 || b->down.at[i] < 0 || b->across.at[j] < 0) return -1;
  return (((ptrdiff_t)b->deep.at[k] * d->h + b->down.at[i]) * d->w + b->across.at[j]) * d->c;
}

static ptrdiff_t grid_image(const grid_sample_dims* d) {
  return (ptrdiff_t)d->depth * d->h * d->w * d->c;
}

/* A row of the points: row = (n * o + its plane) * p + its row of the plane. grid: [n, o, p, q,
   axes]; x: [n, depth, h, w, c]; y: [n, o, p, q, c]. */
static void grid_sample_row(real* y, const real* x, const real* grid, ptrdiff_t row,
                            const grid_sample_dims* d) {
  grid += row * d->q * d->axes;
  y += row * d->q * d->c;
  x += row / ((ptrdiff_t)d->o * d->p) * grid_image(d);
  for (int q = 0; q < d->q; ++q, grid += d->axes, y += d->c) {
    grid_block b;
    grid_block_of(&b, grid, d);
    for (int c = 0; c < d->c; ++c) y[c] = 0;
    for (int k = 0; k < b.deep.count; ++k) {
      for (int i = 0; i < b.down.count; ++i) {
        for (int j = 0; j < b.across.count; ++j) {
          const ptrdiff_t at = grid_place(&b, k, i, j, d);
          const real weight = b.deep.weight[k] * b.down.weight[i] * b.across.weight[j];
          if (at < 0) continue;
          for (int c = 0; c < d->c; ++c) y[c] += weight * x[at + c];
        }
      }
    }
  }
}

static void grid_sample_ref(real* y, const real* x, const real* grid, const grid_sample_dims* d) {
  const ptrdiff_t rows = (ptrdiff_t)d->n * d->o * d->p;
  for (ptrdiff_t row = 0; row < rows; ++row) grid_sample_row(y, x, grid, row, d);
}

/* dx: [n, depth, h, w, c]; dy: [n, o, p, q, c]. */
static void grid_sample_input_grad_ref(real* dx, const real* dy, const real* grid,
                                       const grid_sample_dims* d) {
  const ptrdiff_t points = (ptrdiff_t)d->o * d->p * d->q;
  for (ptrdiff_t i = 0; i < d->n * grid_image(d); ++i) dx[i] = 0;
  for (ptrdiff_t point = 0; point < d->n * points; ++point, grid += d->axes, dy += d->c) {
    real* image = dx + point / points * grid_image(d);
    grid_block b;
    grid_block_of(&b, grid, d);
    for (int k = 0; k < b.deep.count; ++k) {
      for (int i = 0; i < b.down.count; ++i) {
        for (int j = 0; j < b.across.count; ++j) {
          const ptrdiff_t at = grid_place(&b, k, i, j, d);
          const real weight = b.deep.weight[k] * b.down.weight[i] * b.across.weight[j];
          if (at < 0) continue;
          for (int c = 0; c < d->c; ++c) image[at + c] += weight * dy[c];
        }
      }
    }
  }
}

/* A row, as grid_sample_row counts them, of the gradient of the grid: [n, o, p, q, axes]. */
static void grid_sample_grid_row(real* dgrid, const real* dy, const real* x, const real* grid,
                                 ptrdiff_t row, const grid_sample_dims* d) {
  grid += row * d->q * d->axes;
  dgrid += row * d->q * d->axes;
  dy += row * d->q * d->c;
  x += row / ((ptrdiff_t)d->o * d->p) * grid_image(d);
  for (int q = 0; q < d->q; ++q, grid += d->axes, dgrid += d->axes, dy += d->c) {
    real sum[3] = {0, 0, 0};
    grid_block b;
    grid_block_of(&b, grid, d);
    for (int k = 0; k < b.deep.count; ++k) {
      for (int i = 0; i < b.down.count; ++i) {
        for (int j = 0; j < b.across.count; ++j) {
          const ptrdiff_t at = grid_place(&b, k, i, j, d);
          real product = 0;
          if (at < 0) continue;
          for (int c = 0; c < d->c; ++c) product += dy[c] * x[at + c];
          sum[0] += b.deep.weight[k] * b.down.weight[i] * b.across.slope[j] * product;
          sum[1] += b.deep.weight[k] * b.down.slope[i] * b.across.weight[j] * product;
          sum[2] += b.deep.slope[k] * b.down.weight[i] * b.across.weight[j] * product;
        }
      }
    }
    for (int axis = 0; axis < d->axes; ++axis) dgrid[axis] = sum[axis];
  }
}

static void grid_sample_grid_grad_ref(real* dgrid, const real* dy, const real* x, const real* grid,
                                      const grid_sample_dims* d) {
  const ptrdiff_t rows = (ptrdiff_t)d->n * d->o * d->p;
  for (ptrdiff_t row = 0; row < rows; ++row) grid_sample_grid_row(dgrid, dy, x, grid, row, d);
}
