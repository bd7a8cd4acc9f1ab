#include "ops/quantized_conv_transpose2d/dims.h"

/* The sum at (n, p, q) of output channel k; see quantized_conv_transpose2d_ref. */
static int32_t quantized_conv_transpose2d_sum(const int8_t* x, const int8_t* w, const int32_t* bias,
                                              const quantized_conv_transpose2d_dims* dims, int n,
                                              int p, int q, int k) {
  const conv_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int first_c = k / group_k * group_c;
  int64_t sum = bias ? bias[k] : 0;
  for (int r = 0; r < d->r; ++r) {
    const int from_p = p + d->pad_top - r * d->dilation_h;
    if (from_p < 0 || from_p % d->stride_h != 0 || from_p / d->stride_h >= d->h) continue;
    for (int s = 0; s < d->s; ++s) {
      const int from_q = q + d->pad_left - s * d->dilation_w;
      if (from_q < 0 || from_q % d->stride_w != 0 || from_q / d->stride_w >= d->w) continue;
      const ptrdiff_t row = (ptrdiff_t)n * d->h + from_p / d->stride_h;
      const int8_t* pixel = x + (row * d->w + from_q / d->stride_w) * d->c + first_c;
      for (int c = 0; c < group_c; ++c) {
        const ptrdiff_t tap = ((ptrdiff_t)(first_c + c) * d->r + r) * d->s + s;
        sum += (pixel[c] - dims->input_zero_point) * w[tap * group_k + k % group_k];
      }
    }
  }
  return quantized_saturate(sum);
}

/* y[n,p,q,k] = requantized(saturated(sum over the (c,h,w,r,s) with p = h*stride+r*dilation-pad of
   (x[n,h,w,c] - zero point) w[c,r,s,k] + bias[k])).
   x: [n,h,w,c], w: [c,r,s,k/groups], bias: [k] or NULL, y: [n,p,q,k]; y aliases nothing. */
static void quantized_conv_transpose2d_ref(int8_t* y, const int8_t* x, const int8_t* w,
                                           const int32_t* bias,
                                           const quantized_conv_transpose2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_factor* factors = QUANTIZED_FACTORS(dims);
  QUANTIZED_FOR_EACH_RESULT(d, {
    const int32_t sum = quantized_conv_transpose2d_sum(x, w, bias, dims, n, p, q, k);
    *y++ = quantized_requantize(sum, &factors[k], &dims->out);
  })
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n,p,q,k]. */
static void quantized_conv_transpose2d_inside_ref(uint8_t* bits, const int8_t* x, const int8_t* w,
                                                  const int32_t* bias,
                                                  const quantized_conv_transpose2d_dims* dims) {
  const conv_dims* d = &dims->conv;
  const quantized_factor* factors = QUANTIZED_FACTORS(dims);
  ptrdiff_t i = 0;
  QUANTIZED_FOR_EACH_RESULT(d, {
    const int32_t sum = quantized_conv_transpose2d_sum(x, w, bias, dims, n, p, q, k);
    const int64_t v = quantized_unbounded(sum, &factors[k], &dims->out);
    quantized_add_bit(bits, i++, quantized_inside(v, &dims->out));
  })
}
