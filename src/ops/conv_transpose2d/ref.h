#include "ops/families/conv/conv_kernel_dims.h"

/* Transposed 2-D convolution: exactly the adjoint of the convolution from y to x that has the same
   weights, stride, padding, dilation and groups:
   y[n,p,q,k] = act(sum over the (c,h,w,r,s) with p = h*stride+r*dilation-pad of
   x[n,h,w,c] w[c,r,s,k] + bias[k] (+ y before)).
   Its own gradients are therefore dx = conv2d(dy, w) and dw = conv2d_weight_grad(x := dy, dy := x).
   x: [n,h,w,c], w: [c,r,s,k/groups], bias: [k] or NULL, y: [n,p,q,k]; y aliases nothing. */
static void conv_transpose2d_ref(real* y, const real* x, const real* w, const real* bias,
                                 const conv_transpose2d_dims* d) {
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  ptrdiff_t out = 0;
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) {
      for (int q = 0; q < d->q; ++q) {
        for (int k = 0; k < d->k; ++k, ++out) {
          const int first_c = k / group_k * group_c;
          real sum = 0;
          for (int r = 0; r < d->r; ++r) {
            const int from_p = p + d->pad_top - r * d->dilation_h;
            if (from_p < 0 || from_p % d->stride_h != 0 || from_p / d->stride_h >= d->h) continue;
            for (int s = 0; s < d->s; ++s) {
              const int from_q = q + d->pad_left - s * d->dilation_w;
              if (from_q < 0 || from_q % d->stride_w != 0 || from_q / d->stride_w >= d->w) continue;
              const ptrdiff_t row = (ptrdiff_t)n * d->h + from_p / d->stride_h;
              const real* pixel = x + (row * d->w + from_q / d->stride_w) * d->c + first_c;
              for (int c = 0; c < group_c; ++c) {
                const ptrdiff_t tap = ((ptrdiff_t)(first_c + c) * d->r + r) * d->s + s;
                sum += pixel[c] * w[tap * group_k + k % group_k];
              }
            }
          }
          if (bias) sum += bias[k];
          if (d->accumulate) sum += y[out];
          sum = KERNEL_ACTIVATED(d->activation, sum);
          y[out] = sum;
        }
      }
    }
  }
}
