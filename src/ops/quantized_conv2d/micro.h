/* quantized_conv2d for microcontrollers, in the place of the functions of ref.h and with their
   results. Plain C99. */
#include "ops/families/quantized/conv_micro.h"

static void quantized_micro_image(const quantized_micro_out* out, const int8_t* x, const int8_t* w,
                                  const int32_t* bias, const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  for (int n = 0; n < d->n; ++n) {
    quantized_micro_rows(out, (ptrdiff_t)n * d->p * d->q * d->k,
                         x + (ptrdiff_t)n * d->h * d->w * d->c, d->h, w, bias, dims,
                         QUANTIZED_FACTORS(dims), 0, d->p);
  }
}

static void quantized_conv2d_ref(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims) {
  const quantized_micro_out out = quantized_micro_to(y, NULL, &dims->out);
  quantized_micro_image(&out, x, w, bias, dims);
}

static void quantized_conv2d_inside_ref(uint8_t* bits, const int8_t* x, const int8_t* w,
                                        const int32_t* bias, const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_micro_out out = quantized_micro_to(NULL, bits, &dims->out);
  memset(bits, 0, ((size_t)d->n * d->p * d->q * d->k + 7) / 8);
  quantized_micro_image(&out, x, w, bias, dims);
}

static void quantized_conv2d_masked_ref(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w,
                                        const int32_t* bias, const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_micro_out out = quantized_micro_to(y, bits, &dims->out);
  memset(bits, 0, ((size_t)d->n * d->p * d->q * d->k + 7) / 8);
  quantized_micro_image(&out, x, w, bias, dims);
}
