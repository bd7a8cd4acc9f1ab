/* Parts of the gradients that read errors of int8, of the reference and of the host's kernels.
   Plain C99. */
#include "ops/families/quantized/int8_error_pixel.h"

/* Channels from c on that int8_error_pixel takes at once. */
static int int8_error_count(const conv_dims* d, int c) {
  const int group_c = d->c / d->groups;
  const int is_depthwise = group_c == 1 && d->k == d->groups;
  const int rest = is_depthwise ? d->c - c : group_c - c % group_c;
  return rest < INT8_ERROR_CHUNK ? rest : INT8_ERROR_CHUNK;
}

/* Whether windows are of one pixel. */
static inline int int8_error_is_pixel(const conv_dims* d) {
  return d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 && d->groups == 1 &&
         d->h == d->p && d->w == d->q && d->pad_top == 0 && d->pad_left == 0 && d->c > 1;
}

/* Numbers of a row of a channel with its edge: four results are computed at once. */
static inline int int8_error_pitch(const conv_dims* d) { return ((d->w + 3) & ~3) + d->s - 1; }

/* From a row of taps to the next: they are read in pairs, of which the last one may be 0. */
static inline int int8_error_tap_step(int s) { return (s + 1) & ~1; }

/* Whether a depthwise channel fits. With a stride, zeros lie between the errors. */
static inline int int8_error_has_plane(const conv_dims* d) {
  const int columns = d->w + d->s - 1, rows = d->h + d->r - 1;
  const int pitch = int8_error_pitch(d);
  if (rows > INT8_ERROR_PLANE || pitch > INT8_ERROR_PLANE) return 0; /* their product may be huge */
  return d->groups == d->c && d->groups == d->k && rows * pitch <= INT8_ERROR_PLANE &&
         d->r * int8_error_tap_step(d->s) <= INT8_ERROR_TAPS && d->dilation_h == 1 &&
         d->dilation_w == 1 && d->pad_top >= 0 && d->pad_top < d->r && d->pad_left >= 0 &&
         d->pad_left < d->s && d->r - 1 - d->pad_top + (d->p - 1) * d->stride_h < rows &&
         d->s - 1 - d->pad_left + (d->q - 1) * d->stride_w < columns;
}

/* to[i] += waiting[i] unit, where there is one. */
static void int8_error_add(real* to, const int8_t* waiting, const real* unit, int n) {
  if (waiting == 0) return;
  for (int i = 0; i < n; ++i) to[i] = (real)waiting[i] * *unit + to[i];
}

/* int8_error_pixel of `columns` pixels side by side, at most INT8_ERROR_PIXELS: to[i] has the
   channels of pixel i at i INT8_ERROR_CHUNK. */
static void int8_error_strip(real* to, const int8_error_source* from, const int8_t* w,
                             const conv_dims* d, int n, int h, int column, int columns, int c,
                             int count) {
  for (int i = 0; i < columns; ++i) {
    int8_error_pixel(to + (ptrdiff_t)i * INT8_ERROR_CHUNK, from, w, d, n, h, column + i, c, count);
  }
}

/* Row `row` of all images of dx: y gets its int8 numbers of this unit, unless it is null. Returns
   the larger of `most` and the largest size of a number of the row. */
static real int8_error_row(int8_t* y, real most, real unit, const int8_error_source* from,
                           const int8_t* w, const int8_t* waiting, const real* waiting_unit,
                           const conv_dims* d, int row) {
  real dx[INT8_ERROR_PIXELS * INT8_ERROR_CHUNK];
  for (int column = 0, columns = 0; column < d->w; column += columns) {
    columns = d->w - column < INT8_ERROR_PIXELS ? d->w - column : INT8_ERROR_PIXELS;
    for (int c = 0, count = 0; c < d->c; c += count) {
      const ptrdiff_t first = ((ptrdiff_t)row * d->w + column) * d->c + c;
      count = int8_error_count(d, c);
      int8_error_strip(dx, from, w, d, row / d->h, row % d->h, column, columns, c, count);
      for (int i = 0; i < columns; ++i) {
        const ptrdiff_t at = first + (ptrdiff_t)i * d->c;
        real* const pixel = dx + (ptrdiff_t)i * INT8_ERROR_CHUNK;
        int8_error_add(pixel, waiting == 0 ? 0 : waiting + at, waiting_unit, count);
        if (y == 0) {
          most = error_int8_most(most, pixel, count);
        } else {
          error_int8_round(y + at, pixel, unit, count);
        }
      }
    }
  }
  return most;
}

/* dw of output channels k to end: exact sums of integers, times what 1 stands for. */
static void int8_error_weights(real* dw, const int8_t* x, const int8_error_source* from,
                               const int8_error_conv_dims* dims, int k, int end) {
  const conv_dims* const d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int is_depthwise = group_c == 1 && group_k == 1;
  int32_t errors[INT8_ERROR_CHUNK];
  int32_t part[INT8_ERROR_CHUNK]; /* of at most INT8_ERROR_ROWS pixels */
  int64_t sums[INT8_ERROR_CHUNK];
  for (int step = 1; k < end; k += step) {
    if (is_depthwise) step = end - k < INT8_ERROR_CHUNK ? end - k : INT8_ERROR_CHUNK;
    for (int tap = 0; tap < d->r * d->s; ++tap) {
      for (int c = 0, count = 0; c < group_c; c += count) {
        const int rest = is_depthwise ? step : group_c - c;
        int pixels = 0;
        count = rest < INT8_ERROR_CHUNK ? rest : INT8_ERROR_CHUNK;
        for (int i = 0; i < count; ++i) sums[i] = part[i] = 0;
        for (int row = 0; row < d->n * d->p; ++row) {
          const int h = row % d->p * d->stride_h - d->pad_top + tap / d->s * d->dilation_h;
          if (h < 0 || h >= d->h) continue;
          for (int q = 0; q < d->q; ++q) {
            const int column = q * d->stride_w - d->pad_left + tap % d->s * d->dilation_w;
            if (column < 0 || column >= d->w) continue;
            const ptrdiff_t pixel = ((ptrdiff_t)(row / d->p) * d->h + h) * d->w + column;
            const int8_t* const numbers = x + pixel * d->c + k / group_k * group_c + c;
            int8_error_masked(errors, from->e, from->bits, ((ptrdiff_t)row * d->q + q) * d->k + k,
                              is_depthwise ? count : 1);
            if (is_depthwise) {
              for (int i = 0; i < count; ++i)
                part[i] += errors[i] * (numbers[i] - dims->zero_point);
            } else if (errors[0] != 0) {
              for (int i = 0; i < count; ++i)
                part[i] += errors[0] * (numbers[i] - dims->zero_point);
            }
            if (++pixels == INT8_ERROR_ROWS) {
              for (int i = 0; i < count; ++i) {
                sums[i] += part[i];
                part[i] = 0;
              }
              pixels = 0;
            }
          }
        }
        for (int i = 0; i < count; ++i) {
          const ptrdiff_t channel = is_depthwise ? k + i : k;
          dw[(channel * d->r * d->s + tap) * group_c + (is_depthwise ? 0 : c + i)] =
              (real)(sums[i] + part[i]) * (from->unit * from->factors[channel * from->factor_step]);
        }
        if (is_depthwise) break; /* count channels of one weight each */
      }
    }
  }
}
