/* quantized_dense for microcontrollers, in the place of the functions of ref.h and with their
   results: a convolution whose pixels are the rows. Plain C99. */
#include "ops/families/quantized/conv_micro.h"
#include "ops/quantized_dense/dims.h"

static void quantized_micro_dense(const quantized_micro_out* out, const int8_t* x, const int8_t* w,
                                  const int32_t* bias, const quantized_dense_dims* d) {
  quantized_conv2d_dims of;
  conv_dims* const conv = &of.conv;
  memset(&of, 0, sizeof of);
  conv->n = conv->h = conv->p = conv->r = conv->s = conv->groups = 1;
  conv->stride_h = conv->stride_w = conv->dilation_h = conv->dilation_w = 1;
  conv->w = conv->q = d->rows;
  conv->c = d->features;
  conv->k = d->units;
  of.input_zero_point = d->input_zero_point;
  of.out = d->out;
  quantized_micro_rows(out, 0, x, 1, w, bias, &of, QUANTIZED_FACTORS(d), 0, 1);
}

static void quantized_dense_ref(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                                const quantized_dense_dims* d) {
  const quantized_micro_out out = quantized_micro_to(y, NULL, &d->out);
  quantized_micro_dense(&out, x, w, bias, d);
}

static void quantized_dense_inside_ref(uint8_t* bits, const int8_t* x, const int8_t* w,
                                       const int32_t* bias, const quantized_dense_dims* d) {
  const quantized_micro_out out = quantized_micro_to(NULL, bits, &d->out);
  memset(bits, 0, ((size_t)d->rows * d->units + 7) / 8);
  quantized_micro_dense(&out, x, w, bias, d);
}

static void quantized_dense_masked_ref(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w,
                                       const int32_t* bias, const quantized_dense_dims* d) {
  const quantized_micro_out out = quantized_micro_to(y, bits, &d->out);
  memset(bits, 0, ((size_t)d->rows * d->units + 7) / 8);
  quantized_micro_dense(&out, x, w, bias, d);
}
