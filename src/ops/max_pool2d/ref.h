#include "ops/families/pool/pool_dims.h"

#ifdef THIMBLE_OF_INTEGERS
#define MAX_POOL2D_IS_NAN(v) 0
#else
#define MAX_POOL2D_IS_NAN(v) ((v) != (v))
#endif

/* Places of maxima: uint8 or, for windows of many cells, int32 in the same memory. */
static int max_pool2d_place(const uint8_t* index, ptrdiff_t i, const pool_dims* d) {
  return d->wide_index ? ((const int32_t*)(const void*)index)[i] : index[i];
}

/* y[n,p,q,c] = max over the window at (p, q) of x[n,.,.,c], NaN where it holds one;
   index[n,p,q,c] = r * s_size + s of the first largest cell, in the window.
   x: [n,h,w,c], y, index: [n,p,q,c]; nothing aliases. index may be NULL. */
static void max_pool2d_ref(real* y, uint8_t* index, const real* x, const pool_dims* d) {
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    const real* image = x + (ptrdiff_t)n * d->h * d->w * d->c;
    for (int p = 0; p < d->p; ++p) {
      const pool_range rows = pool_cells(p, d->stride_h, d->pad_top, d->dilation_h, d->r, d->h);
      for (int q = 0; q < d->q; ++q) {
        const pool_range columns =
            pool_cells(q, d->stride_w, d->pad_left, d->dilation_w, d->s, d->w);
        for (int c = 0; c < d->c; ++c, ++out) {
          int best_row = rows.begin;
          int best_column = columns.begin;
          real best = image[((ptrdiff_t)best_row * d->w + best_column) * d->c + c];
          for (int row = rows.begin; row < rows.end; row += d->dilation_h) {
            for (int column = columns.begin; column < columns.end; column += d->dilation_w) {
              const real value = image[((ptrdiff_t)row * d->w + column) * d->c + c];
              if (value > best || MAX_POOL2D_IS_NAN(value)) {
                best = value;
                best_row = row;
                best_column = column;
              }
            }
          }
          y[out] = best;
          if (index) {
            const int r = (best_row - p * d->stride_h + d->pad_top) / d->dilation_h;
            const int s = (best_column - q * d->stride_w + d->pad_left) / d->dilation_w;
            const int place = r * d->s + s;
            if (d->wide_index) {
              ((int32_t*)(void*)index)[out] = place;
            } else {
              index[out] = (uint8_t)place;
            }
          }
        }
      }
    }
  }
}

/* max_pool2d without the places. */
static void max_pool2d_inference_ref(real* y, const real* x, const pool_dims* d) {
  max_pool2d_ref(y, NULL, x, d);
}

#ifndef THIMBLE_OF_INTEGERS

/* dx[n,h,w,c] = sum of dy[n,p,q,c] over the windows (p, q) whose largest cell is (h, w).
   dy, index: [n,p,q,c], dx: [n,h,w,c]; nothing aliases. */
static void max_pool2d_grad_ref(real* dx, const real* dy, const uint8_t* index,
                                const pool_dims* d) {
  const int extent_h = (d->r - 1) * d->dilation_h + 1;
  const int extent_w = (d->s - 1) * d->dilation_w + 1;
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    pool_range rows = {0, 0};
    for (int h = 0; h < d->h; ++h) {
      rows = pool_windows(rows, h, d->stride_h, d->pad_top, extent_h, d->p);
      pool_range columns = {0, 0};
      for (int w = 0; w < d->w; ++w) {
        columns = pool_windows(columns, w, d->stride_w, d->pad_left, extent_w, d->q);
        for (int c = 0; c < d->c; ++c, ++out) {
          real sum = 0;
          for (int p = rows.begin; p < rows.end; ++p) {
            for (int q = columns.begin; q < columns.end; ++q) {
              const ptrdiff_t from = (((ptrdiff_t)n * d->p + p) * d->q + q) * d->c + c;
              const int row = h - p * d->stride_h + d->pad_top;
              const int column = w - q * d->stride_w + d->pad_left;
              if (row % d->dilation_h != 0 || column % d->dilation_w != 0) continue;
              const int place = row / d->dilation_h * d->s + column / d->dilation_w;
              if (max_pool2d_place(index, from, d) == place) sum += dy[from];
            }
          }
          dx[out] = sum;
        }
      }
    }
  }
}

/* Places of a window's cells in 1, 2 or 4 bits each, the first in the lowest bits of the first
   byte. bits: [count * width / 8], index: [count]; nothing aliases. */
static void max_pool2d_pack_ref(uint8_t* bits, const uint8_t* index, const pool_pack_dims* d) {
  const int per_byte = 8 / d->width;
  for (int begin = 0; begin < d->n; begin += per_byte) {
    unsigned byte = 0;
    for (int i = begin; i < d->n && i < begin + per_byte; ++i) {
      byte |= (unsigned)index[i] << (i - begin) * d->width;
    }
    bits[begin / per_byte] = (uint8_t)byte;
  }
}

static int max_pool2d_packed_place(const uint8_t* bits, ptrdiff_t i, int width) {
  const int per_byte = 8 / width;
  return bits[i / per_byte] >> i % per_byte * width & ((1 << width) - 1);
}

/* max_pool2d_grad_ref with packed places. dx is cleared, then each window's dy goes to its largest
   cell; a place outside the image, which no pooling gives, gets nothing. */
static void max_pool2d_packed_grad_ref(real* dx, const real* dy, const uint8_t* bits,
                                       const pool_dims* d) {
  const int width = d->place_bits;
  const ptrdiff_t inputs = (ptrdiff_t)d->n * d->h * d->w * d->c;
  ptrdiff_t from = 0;
  for (ptrdiff_t i = 0; i < inputs; ++i) dx[i] = 0;
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) {
      for (int q = 0; q < d->q; ++q) {
        for (int c = 0; c < d->c; ++c, ++from) {
          const int place = max_pool2d_packed_place(bits, from, width);
          const int row = p * d->stride_h - d->pad_top + place / d->s * d->dilation_h;
          const int column = q * d->stride_w - d->pad_left + place % d->s * d->dilation_w;
          if (row < 0 || row >= d->h || column < 0 || column >= d->w) continue;
          dx[(((ptrdiff_t)n * d->h + row) * d->w + column) * d->c + c] += dy[from];
        }
      }
    }
  }
}

/* cells = where in the image the places of maxima are: row * w + column; -1 for a place that the
   window does not have. cells, index: [n,p,q,c]. */
static void max_pool2d_cells_ref(int32_t* cells, const uint8_t* index, const pool_dims* d) {
  const ptrdiff_t count = (ptrdiff_t)d->n * d->p * d->q * d->c;
  for (ptrdiff_t i = 0; i < count; ++i) {
    const int window = (int)(i / d->c % (d->p * d->q));
    const int place = max_pool2d_place(index, i, d);
    if (place < 0 || place >= d->r * d->s) {
      cells[i] = -1;
      continue;
    }
    const int row = window / d->q * d->stride_h - d->pad_top + place / d->s * d->dilation_h;
    const int column = window % d->q * d->stride_w - d->pad_left + place % d->s * d->dilation_w;
    cells[i] = row * d->w + column;
  }
}

#endif

#undef MAX_POOL2D_IS_NAN
