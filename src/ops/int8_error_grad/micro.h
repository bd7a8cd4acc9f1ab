/* int8_error_strip for microcontrollers, in the place of the function of parts.h and with its
   results: windows of one pixel are computed in tiles of four pixels by four channels. Plain C99.
 */
#include "ops/families/quantized/int8_error_pixel.h"
#include "ops/families/quantized/sum_micro.h"

/* to[i,c] += the sum over k of sums[k,i] w[k,c], for four pixels i and four channels c. sums:
   [n,4], w: rows of `step` bytes, to: rows of INT8_ERROR_CHUNK. */
static void int8_error_tile(real* to, const real* sums, const int8_t* w, int step, int n) {
  real* const to1 = to + INT8_ERROR_CHUNK;
  real* const to2 = to1 + INT8_ERROR_CHUNK;
  real* const to3 = to2 + INT8_ERROR_CHUNK;
  real a00 = to[0], a01 = to[1], a02 = to[2], a03 = to[3];
  real a10 = to1[0], a11 = to1[1], a12 = to1[2], a13 = to1[3];
  real a20 = to2[0], a21 = to2[1], a22 = to2[2], a23 = to2[3];
  real a30 = to3[0], a31 = to3[1], a32 = to3[2], a33 = to3[3];
  for (const real* const end = sums + 4 * (ptrdiff_t)n; sums != end; sums += 4, w += step) {
    const real w0 = (real)w[0], w1 = (real)w[1], w2 = (real)w[2], w3 = (real)w[3];
    const real s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
    a00 = quantized_micro_plus(a00, s0, w0);
    a01 = quantized_micro_plus(a01, s0, w1);
    a02 = quantized_micro_plus(a02, s0, w2);
    a03 = quantized_micro_plus(a03, s0, w3);
    a10 = quantized_micro_plus(a10, s1, w0);
    a11 = quantized_micro_plus(a11, s1, w1);
    a12 = quantized_micro_plus(a12, s1, w2);
    a13 = quantized_micro_plus(a13, s1, w3);
    a20 = quantized_micro_plus(a20, s2, w0);
    a21 = quantized_micro_plus(a21, s2, w1);
    a22 = quantized_micro_plus(a22, s2, w2);
    a23 = quantized_micro_plus(a23, s2, w3);
    a30 = quantized_micro_plus(a30, s3, w0);
    a31 = quantized_micro_plus(a31, s3, w1);
    a32 = quantized_micro_plus(a32, s3, w2);
    a33 = quantized_micro_plus(a33, s3, w3);
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
  real row[INT8_ERROR_DEPTH];
  real sums[INT8_ERROR_PIXELS * INT8_ERROR_DEPTH];
  const int is_pixel = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                       d->groups == 1 && d->h == d->p && d->w == d->q && d->pad_top == 0 &&
                       d->pad_left == 0;
  if (!is_pixel || columns != INT8_ERROR_PIXELS || count % 4 != 0) {
    for (int i = 0; i < columns; ++i) {
      int8_error_pixel(to + (ptrdiff_t)i * INT8_ERROR_CHUNK, from, w, d, n, h, column + i, c,
                       count);
    }
    return;
  }
  for (int i = 0; i < INT8_ERROR_PIXELS * INT8_ERROR_CHUNK; ++i) to[i] = 0;
  for (int k = 0; k < d->k; k += INT8_ERROR_DEPTH) {
    const int here = d->k - k < INT8_ERROR_DEPTH ? d->k - k : INT8_ERROR_DEPTH;
    for (int i = 0; i < INT8_ERROR_PIXELS; ++i) {
      const ptrdiff_t pixel = ((ptrdiff_t)n * d->h + h) * d->w + column + i;
      int8_error_sums(row, from, pixel * d->k + k, k, here);
      for (int j = 0; j < here; ++j) sums[4 * j + i] = row[j];
    }
    for (int i = 0; i < count; i += 4) {
      int8_error_tile(to + i, sums, w + (ptrdiff_t)k * d->c + c + i, d->c, here);
    }
  }
}
