#include "ops/error_int8/rounding.h"
#include "ops/int8_error_grad/parts.h"

/* dx = round(v / dx_scale) with dx_scale = largest |v| / 127, where v is the gradient of
   quantized_conv2d in its input, plus waiting * waiting_scale if there is one. It is computed
   twice, first for its largest number, so that no f32 tensor is stored. Sums are those of integers:
   errors times factors are rounded to int16, with 255 for an error of 1 and the largest factor. e:
   [n,p,q,k], factors: [k] or one number, w: [k,r,s,c/groups], bits: of e, or null, waiting:
   [n,h,w,c] or null, dx: [n,h,w,c]; dx may be waiting. */
static void int8_error_input_grad_ref(int8_t* dx, real* dx_scale, const int8_t* e,
                                      const real* scale, const real* factors, const int8_t* w,
                                      const uint8_t* bits, const int8_t* waiting,
                                      const real* waiting_scale, const int8_error_conv_dims* d) {
  const int8_error_source from =
      int8_error_from(e, scale, factors, bits, d->factor_step, d->conv.k);
  real most = 0;
  for (int row = 0; row < d->conv.n * d->conv.h; ++row) {
    most = int8_error_row(0, most, 0, &from, w, waiting, waiting_scale, &d->conv, row);
  }
  const real unit = most / 127;
  for (int row = 0; row < d->conv.n * d->conv.h; ++row) {
    int8_error_row(dx, 0, unit, &from, w, waiting, waiting_scale, &d->conv, row);
  }
  *dx_scale = unit;
}

/* The gradient of quantized_conv2d in its weights. x: [n,h,w,c], dw: [k,r,s,c/groups]. */
static void int8_error_weight_grad_ref(real* dw, const int8_t* x, const int8_t* e,
                                       const real* scale, const real* factors, const uint8_t* bits,
                                       const int8_error_conv_dims* d) {
  const int8_error_source from = int8_error_from(e, scale, factors, bits, d->factor_step, 0);
  int8_error_weights(dw, x, &from, d, 0, d->conv.k);
}

/* dbias[c] = the sum over i of the gradients of sums [i,c], of integers. e: [rows,channels], dbias:
   [channels]. */
static void int8_error_bias_grad_ref(real* dbias, const int8_t* e, const real* scale,
                                     const real* factors, const uint8_t* bits,
                                     const int8_error_dims* d) {
  int32_t errors[INT8_ERROR_CHUNK], block[INT8_ERROR_CHUNK];
  int64_t sums[INT8_ERROR_CHUNK];
  for (int c = 0, count = 0; c < d->channels; c += count) {
    count = d->channels - c < INT8_ERROR_CHUNK ? d->channels - c : INT8_ERROR_CHUNK;
    for (int i = 0; i < count; ++i) sums[i] = 0;
    for (int begin = 0; begin < d->rows; begin += INT8_ERROR_ROWS) {
      const int rest = d->rows - begin;
      const int end = begin + (rest < INT8_ERROR_ROWS ? rest : INT8_ERROR_ROWS);
      for (int i = 0; i < count; ++i) block[i] = 0;
      for (int row = begin; row < end; ++row) {
        int8_error_masked(errors, e, bits, (ptrdiff_t)row * d->channels + c, count);
        for (int i = 0; i < count; ++i) block[i] += errors[i];
      }
      for (int i = 0; i < count; ++i) sums[i] += block[i];
    }
    for (int i = 0; i < count; ++i) {
      dbias[c + i] = (real)sums[i] * (*scale * factors[(ptrdiff_t)(c + i) * d->factor_step]);
    }
  }
}

/* The gradients of n sums from `at` on, of channels c and on. */
static void int8_error_sums(real* to, const int8_error_source* from, ptrdiff_t at, int c, int n) {
  const real* const factors = from->factors + (ptrdiff_t)c * from->factor_step;
  int32_t errors[INT8_ERROR_CHUNK];
  int8_error_masked(errors, from->e, from->bits, at, n);
  for (int i = 0; i < n; ++i) {
    to[i] = (real)errors[i] * (from->unit * factors[(ptrdiff_t)i * from->factor_step]);
  }
}

/* As int8_error_input_grad of a layer that multiplies every number by 1: v[i,c] is the gradient of
   sum [i,c]. e, dx, waiting: [rows,channels]; dx may be e or waiting. */
static void int8_error_scale_ref(int8_t* dx, real* dx_scale, const int8_t* e, const real* scale,
                                 const real* factors, const uint8_t* bits, const int8_t* waiting,
                                 const real* waiting_scale, const int8_error_dims* d) {
  const int8_error_source from = int8_error_from(e, scale, factors, bits, d->factor_step, 0);
  real v[INT8_ERROR_CHUNK];
  real most = 0;
  real unit = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int row = 0; row < d->rows; ++row) {
      for (int c = 0, count = 0; c < d->channels; c += count) {
        const ptrdiff_t at = (ptrdiff_t)row * d->channels + c;
        const int rest = d->channels - c;
        count = rest < INT8_ERROR_CHUNK ? rest : INT8_ERROR_CHUNK;
        int8_error_sums(v, &from, at, c, count);
        int8_error_add(v, waiting == 0 ? 0 : waiting + at, waiting_scale, count);
        if (pass == 0) {
          most = error_int8_most(most, v, count);
        } else {
          error_int8_round(dx + at, v, unit, count);
        }
      }
    }
    unit = most / 127;
  }
  *dx_scale = unit;
}
