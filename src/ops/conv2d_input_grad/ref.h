#include "ops/families/conv/conv_kernel_dims.h"

/* Gradient of conv2d in its input, the adjoint map of x -> conv(x, w):
   dx[n,h,w,c] = act(sum over the (k,p,q,r,s) that read this pixel of dy[n,p,q,k] w[k,r,s,c]
   + bias[c] (+ dx before)). bias and the activation serve the transposed convolution.
   dy: [n,p,q,k], w: [k,r,s,c/groups], bias: [c] or NULL, dx: [n,h,w,c]; dx aliases nothing. */
static void conv2d_input_grad_ref(real* dx, const real* dy, const real* w, const real* bias,
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
                sum += pixel[k] * w[tap * group_c + c % group_c];
              }
            }
          }
          if (bias) sum += bias[c];
          if (d->accumulate) sum += dx[out];
          sum = KERNEL_ACTIVATED(d->activation, sum);
          dx[out] = sum;
        }
      }
    }
  }
}
