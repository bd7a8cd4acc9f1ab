#include "ops/families/conv/conv_kernel_dims.h"

/* 2-D convolution: y[n,p,q,k] = act(sum_{r,s,c} x[n, p*stride+r*dilation-pad, ..., c] w[k,r,s,c]
   + bias[k] (+ y before)). Taps outside the image count as zero.
   x: [n,h,w,c], w: [k,r,s,c/groups], bias: [k] or NULL, y: [n,p,q,k]; y aliases nothing. */
static void conv2d_ref(real* y, const real* x, const real* w, const real* bias,
                       const conv2d_dims* d) {
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
            const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
            if (row < 0 || row >= d->h) continue;
            for (int s = 0; s < d->s; ++s) {
              const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
              if (column < 0 || column >= d->w) continue;
              const real* pixel = x + (((ptrdiff_t)n * d->h + row) * d->w + column) * d->c;
              const real* tap = w + (((ptrdiff_t)k * d->r + r) * d->s + s) * group_c;
              for (int c = 0; c < group_c; ++c) sum += pixel[first_c + c] * tap[c];
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
