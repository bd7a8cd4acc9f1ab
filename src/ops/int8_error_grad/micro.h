/* int8_error_strip for microcontrollers, in the place of the function of parts.h and with its
   results: windows of one pixel are computed in tiles of four pixels by four channels. Plain C99.
 */
#include "ops/families/quantized/int8_error_pixel.h"

/* to[i,c] += the sum over k of errors[k,i] w[k,c], for four pixels i and four channels c. errors:
   [n,4], w: rows of `step` bytes, to: rows of INT8_ERROR_CHUNK. */
static void int8_error_tile(int32_t* to, const int32_t* errors, const int8_t* w, int step, int n) {
  int32_t* const to1 = to + INT8_ERROR_CHUNK;
  int32_t* const to2 = to1 + INT8_ERROR_CHUNK;
  int32_t* const to3 = to2 + INT8_ERROR_CHUNK;
  int32_t a00 = to[0], a01 = to[1], a02 = to[2], a03 = to[3];
  int32_t a10 = to1[0], a11 = to1[1], a12 = to1[2], a13 = to1[3];
  int32_t a20 = to2[0], a21 = to2[1], a22 = to2[2], a23 = to2[3];
  int32_t a30 = to3[0], a31 = to3[1], a32 = to3[2], a33 = to3[3];
  for (const int32_t* const end = errors + 4 * (ptrdiff_t)n; errors != end;
       errors += 4, w += step) {
    const int32_t w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    const int32_t e0 = errors[0], e1 = errors[1], e2 = errors[2], e3 = errors[3];
    a00 += e0 * w0;
    a01 += e0 * w1;
    a02 += e0 * w2;
    a03 += e0 * w3;
    a10 += e1 * w0;
    a11 += e1 * w1;
    a12 += e1 * w2;
    a13 += e1 * w3;
    a20 += e2 * w0;
    a21 += e2 * w1;
    a22 += e2 * w2;
    a23 += e2 * w3;
    a30 += e3 * w0;
    a31 += e3 * w1;
    a32 += e3 * w2;
    a33 += e3 * w3;
  }
  to[0] = a00;
  to[1] = a01;
  to[2] = a02;
  to[3] = a03;
  to1[0] = a10;
  to1[1] = a11;
  to1[2] = a12;
  to1[3] = a13;
  to2[0] = a20;
  to2[1] = a21;
  to2[2] = a22;
  to2[3] = a23;
  to3[0] = a30;
  to3[1] = a31;
  to3[2] = a32;
  to3[3] = a33;
}

static void int8_error_strip(real* to, const int8_error_source* from, const int8_t* w,
                             const conv_dims* d, int n, int h, int column, int columns, int c,
                             int count) {
  int32_t row[INT8_ERROR_DEPTH];
  int32_t errors[INT8_ERROR_PIXELS * INT8_ERROR_DEPTH];
  int32_t sums[INT8_ERROR_PIXELS * INT8_ERROR_CHUNK];
  const int is_pixel = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                       d->groups == 1 && d->h == d->p && d->w == d->q && d->pad_top == 0 &&
                       d->pad_left == 0;
  const real unit = int8_error_folded_unit(from->unit, from->most);
  if (!is_pixel || columns != INT8_ERROR_PIXELS || count % 4 != 0 || d->k > INT8_ERROR_PRODUCTS ||
      (d->c == 1 && d->k == 1)) {
    for (int i = 0; i < columns; ++i) {
      int8_error_pixel(to + (ptrdiff_t)i * INT8_ERROR_CHUNK, from, w, d, n, h, column + i, c,
                       count);
    }
    return;
  }
  for (int i = 0; i < INT8_ERROR_PIXELS * INT8_ERROR_CHUNK; ++i) sums[i] = 0;
  for (int k = 0; k < d->k; k += INT8_ERROR_DEPTH) {
    const int here = d->k - k < INT8_ERROR_DEPTH ? d->k - k : INT8_ERROR_DEPTH;
    for (int i = 0; i < INT8_ERROR_PIXELS; ++i) {
      const ptrdiff_t pixel = ((ptrdiff_t)n * d->h + h) * d->w + column + i;
      int8_error_folded(row, from, pixel * d->k + k, k, here);
      for (int j = 0; j < here; ++j) errors[4 * j + i] = row[j];
    }
    for (int i = 0; i < count; i += 4) {
      int8_error_tile(sums + i, errors, w + (ptrdiff_t)k * d->c + c + i, d->c, here);
    }
  }
  for (int i = 0; i < INT8_ERROR_PIXELS * INT8_ERROR_CHUNK; ++i) to[i] = (real)sums[i] * unit;
}
