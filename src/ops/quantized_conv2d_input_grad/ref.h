#include "ops/quantized_conv2d_input_grad/dims.h"

/* Gradient of quantized_conv2d in its input, from that of its sums:
   dx[n,h,w,c] = sum over the (k,p,q,r,s) that read this pixel of dy[n,p,q,k] w[k,r,s,c].
   dy: [n,p,q,k], w: [k,r,s,c/groups], dx: [n,h,w,c]; dx aliases nothing. */
static void quantized_conv2d_input_grad_ref(real* dx, const real* dy, const int8_t* w,
                                            const conv2d_input_grad_dims* d) {
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    for (int h = 0; h < d->h; ++h) {
      for (int column = 0; column < d->w; ++column) {
        for (int c = 0; c < d->c; ++c, ++out) {
          const int first_k = c / group_c * group_k;
          real sum = 0;
          for (int r = 0; r < d->r; ++r) {
            const int from_h = h + d->pad_top - r * d->dilation_h;
            if (from_h < 0 || from_h % d->stride_h != 0 || from_h / d->stride_h >= d->p) continue;
            for (int s = 0; s < d->s; ++s) {
              const int from_w = column + d->pad_left - s * d->dilation_w;
              if (from_w < 0 || from_w % d->stride_w != 0 || from_w / d->stride_w >= d->q) continue;
              const ptrdiff_t row = (ptrdiff_t)n * d->p + from_h / d->stride_h;
              const real* pixel = dy + (row * d->q + from_w / d->stride_w) * d->k + first_k;
              for (int k = 0; k < group_k; ++k) {
                const ptrdiff_t tap = ((ptrdiff_t)(first_k + k) * d->r + r) * d->s + s;
                sum += pixel[k] * (real)w[tap * group_c + c % group_c];
              }
            }
          }
          dx[out] = sum;
        }
      }
    }
  }
}

/* The same, but 0 where the bit of an element of dx is not set. */
static void quantized_conv2d_input_grad_masked_ref(real* dx, const real* dy, const int8_t* w,
                                                   const uint8_t* bits,
                                                   const conv2d_input_grad_dims* d) {
  const ptrdiff_t n = (ptrdiff_t)d->n * d->h * d->w * d->c;
  quantized_conv2d_input_grad_ref(dx, dy, w, d);
  for (ptrdiff_t i = 0; i < n; ++i) {
    if ((bits[i / 8] >> (i % 8) & 1) == 0) dx[i] = 0;
  }
}

/* quantized_conv2d_input_grad of a depthwise convolution of stride 1 whose image and result have
   one size. dx may be dy: of each channel, the rows that dx has taken the place of are kept while
   they are read. */
static void quantized_depthwise_input_grad_ref(real* dx, const real* dy, const int8_t* w,
                                               const conv2d_input_grad_dims* d) {
  real kept[QUANTIZED_KEPT_NUMBERS];
  const int rows = (d->r - 1) * d->dilation_h - d->pad_top + 1;
  for (int n = 0; n < d->n; ++n) {
    for (int c = 0; c < d->c; ++c) {
      for (int h = 0; h < d->h; ++h) {
        const ptrdiff_t row = ((ptrdiff_t)n * d->h + h) * d->w;
        for (int q = 0; q < d->q; ++q) kept[h % rows * d->q + q] = dy[(row + q) * d->c + c];
        for (int column = 0; column < d->w; ++column) {
          real sum = 0;
          for (int r = 0; r < d->r; ++r) {
            const int p = h + d->pad_top - r * d->dilation_h;
            if (p < 0 || p >= d->p) continue;
            for (int s = 0; s < d->s; ++s) {
              const int q = column + d->pad_left - s * d->dilation_w;
              if (q < 0 || q >= d->q) continue;
              const real from = p > h ? dy[(((ptrdiff_t)n * d->p + p) * d->q + q) * d->c + c]
                                      : kept[p % rows * d->q + q];
              sum += from * (real)w[((ptrdiff_t)c * d->r + r) * d->s + s];
            }
          }
          dx[(row + column) * d->c + c] = sum;
        }
      }
    }
  }
}
