#include "ops/quantized_conv2d/dims.h"

/* The sum at (n, p, q) of output channel k; see quantized_conv2d_ref. */
static int32_t quantized_conv2d_sum(const int8_t* x, const int8_t* w, const int32_t* bias,
                                    const quantized_conv2d_dims* dims, int n, int p, int q, int k) {
  const conv_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int first_c = k / (d->k / d->groups) * group_c;
  int64_t sum = bias ? bias[k] : 0;
  for (int r = 0; r < d->r; ++r) {
    const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
    if (row < 0 || row >= d->h) continue;
    for (int s = 0; s < d->s; ++s) {
      const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
      if (column < 0 || column >= d->w) continue;
      const int8_t* pixel = x + (((ptrdiff_t)n * d->h + row) * d->w + column) * d->c;
      const int8_t* tap = w + (((ptrdiff_t)k * d->r + r) * d->s + s) * group_c;
      for (int c = 0; c < group_c; ++c) {
        sum += (pixel[first_c + c] - dims->input_zero_point) * tap[c];
      }
    }
  }
  return quantized_saturate(sum);
}

/* y[n,p,q,k] = requantized(saturated(sum_{r,s,c} (x[n, p*stride+r*dilation-pad, ..., c] - zero
   point) w[k,r,s,c] + bias[k])). Taps outside the image count as zero. x: [n,h,w,c], w:
   [k,r,s,c/groups], bias: [k] or NULL, y: [n,p,q,k]; y aliases nothing. */
static void quantized_conv2d_ref(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_factor* factors = QUANTIZED_FACTORS(dims);
  QUANTIZED_FOR_EACH_RESULT(d, {
    const int32_t sum = quantized_conv2d_sum(x, w, bias, dims, n, p, q, k);
    *y++ = quantized_requantize(sum, &factors[k], &dims->out);
  })
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n,p,q,k]. */
static void quantized_conv2d_inside_ref(uint8_t* bits, const int8_t* x, const int8_t* w,
                                        const int32_t* bias, const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_factor* factors = QUANTIZED_FACTORS(dims);
  ptrdiff_t i = 0;
  QUANTIZED_FOR_EACH_RESULT(d, {
    const int32_t sum = quantized_conv2d_sum(x, w, bias, dims, n, p, q, k);
    const int64_t v = quantized_unbounded(sum, &factors[k], &dims->out);
    quantized_add_bit(bits, i++, quantized_inside(v, &dims->out));
  })
}

/* Both: y and bits. */
static void quantized_conv2d_masked_ref(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w,
                                        const int32_t* bias, const quantized_conv2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_factor* factors = QUANTIZED_FACTORS(dims);
  ptrdiff_t i = 0;
  QUANTIZED_FOR_EACH_RESULT(d, {
    const int32_t sum = quantized_conv2d_sum(x, w, bias, dims, n, p, q, k);
    const int64_t v = quantized_unbounded(sum, &factors[k], &dims->out);
    y[i] = quantized_clamp(v, &dims->out);
    quantized_add_bit(bits, i++, quantized_inside(v, &dims->out));
  })
}
