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
  if (!(x > (real)-1e8 && x < (real)1e8)) x = -100;
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

/* Row p of the points of image n. x: [n, h, w, c]; grid: [n, p, q, 2]; y: [n, p, q, c]. */
static void grid_sample_row(real* y, const real* x, const real* grid, int n, int p,
                            const grid_sample_dims* d) {
  const ptrdiff_t first = ((ptrdiff_t)n * d->p + p) * d->q;
  grid += first * 2;
  y += first * d->c;
  x += (ptrdiff_t)n * d->h * d->w * d->c;
  for (int q = 0; q < d->q; ++q, grid += 2, y += d->c) {
    grid_taps across;
    grid_taps down;
    grid_taps_of(&across, grid[0], d->w, d);
    grid_taps_of(&down, grid[1], d->h, d);
    for (int c = 0; c < d->c; ++c) y[c] = 0;
    for (int i = 0; i < down.count; ++i) {
      for (int j = 0; j < across.count; ++j) {
        if (down.at[i] < 0 || across.at[j] < 0) continue;
        const real* pixel = x + ((ptrdiff_t)down.at[i] * d->w + across.at[j]) * d->c;
        const real weight = down.weight[i] * across.weight[j];
        for (int c = 0; c < d->c; ++c) y[c] += weight * pixel[c];
      }
    }
  }
}

static void grid_sample_ref(real* y, const real* x, const real* grid, const grid_sample_dims* d) {
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) grid_sample_row(y, x, grid, n, p, d);
  }
}

/* Channels [begin, end) of the gradient of image n. dx: [n, h, w, c]; dy: [n, p, q, c]. */
static void grid_sample_image_part(real* dx, const real* dy, const real* grid, int n, int begin,
                                   int end, const grid_sample_dims* d) {
  const ptrdiff_t points = (ptrdiff_t)d->p * d->q;
  grid += n * points * 2;
  dy += n * points * d->c;
  dx += (ptrdiff_t)n * d->h * d->w * d->c;
  for (ptrdiff_t i = 0; i < (ptrdiff_t)d->h * d->w; ++i) {
    for (int c = begin; c < end; ++c) dx[i * d->c + c] = 0;
  }
  for (ptrdiff_t point = 0; point < points; ++point, grid += 2, dy += d->c) {
    grid_taps across;
    grid_taps down;
    grid_taps_of(&across, grid[0], d->w, d);
    grid_taps_of(&down, grid[1], d->h, d);
    for (int i = 0; i < down.count; ++i) {
      for (int j = 0; j < across.count; ++j) {
        if (down.at[i] < 0 || across.at[j] < 0) continue;
        real* pixel = dx + ((ptrdiff_t)down.at[i] * d->w + across.at[j]) * d->c;
        const real weight = down.weight[i] * across.weight[j];
        for (int c = begin; c < end; ++c) pixel[c] += weight * dy[c];
      }
    }
  }
}

static void grid_sample_input_grad_ref(real* dx, const real* dy, const real* grid,
                                       const grid_sample_dims* d) {
  for (int n = 0; n < d->n; ++n) grid_sample_image_part(dx, dy, grid, n, 0, d->c, d);
}

/* Row p of the gradient of the grid of image n: [n, p, q, 2]. */
static void grid_sample_grid_row(real* dgrid, const real* dy, const real* x, const real* grid,
                                 int n, int p, const grid_sample_dims* d) {
  const ptrdiff_t first = ((ptrdiff_t)n * d->p + p) * d->q;
  grid += first * 2;
  dgrid += first * 2;
  dy += first * d->c;
  x += (ptrdiff_t)n * d->h * d->w * d->c;
  for (int q = 0; q < d->q; ++q, grid += 2, dgrid += 2, dy += d->c) {
    grid_taps across;
    grid_taps down;
    real sum_across = 0;
    real sum_down = 0;
    grid_taps_of(&across, grid[0], d->w, d);
    grid_taps_of(&down, grid[1], d->h, d);
    for (int i = 0; i < down.count; ++i) {
      for (int j = 0; j < across.count; ++j) {
        if (down.at[i] < 0 || across.at[j] < 0) continue;
        const real* pixel = x + ((ptrdiff_t)down.at[i] * d->w + across.at[j]) * d->c;
        real product = 0;
        for (int c = 0; c < d->c; ++c) product += dy[c] * pixel[c];
        sum_across += down.weight[i] * across.slope[j] * product;
        sum_down += down.slope[i] * across.weight[j] * product;
      }
    }
    dgrid[0] = sum_across;
    dgrid[1] = sum_down;
  }
}

static void grid_sample_grid_grad_ref(real* dgrid, const real* dy, const real* x, const real* grid,
                                      const grid_sample_dims* d) {
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) grid_sample_grid_row(dgrid, dy, x, grid, n, p, d);
  }
}
