#include "ops/families/conv/conv_kernel_dims.h"

/* Gradient of conv2d in its weights:
   dw[k,r,s,c] = sum_{n,p,q} dy[n,p,q,k] x[n, p*stride+r*dilation-pad, ..., c] (+ dw before).
   x: [n,h,w,c], dy: [n,p,q,k], dw: [k,r,s,c/groups], or some of its rows (dims.h); dw aliases
   nothing. */
static void conv2d_weight_grad_ref(real* dw, const real* x, const real* dy,
                                   const conv2d_weight_grad_dims* d) {
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  ptrdiff_t out = 0;
  const int last_k = d->k_count > 0 ? d->k_first + d->k_count : d->k;
  for (int k = d->k_first; k < last_k; ++k) {
    for (int r = 0; r < d->r; ++r) {
      for (int s = 0; s < d->s; ++s) {
        for (int c = 0; c < group_c; ++c, ++out) {
          const int x_c = k / group_k * group_c + c;
          real sum = 0;
          for (int n = 0; n < d->n; ++n) {
            for (int p = 0; p < d->p; ++p) {
              const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
              if (row < 0 || row >= d->h) continue;
              for (int q = 0; q < d->q; ++q) {
                const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
                if (column < 0 || column >= d->w) continue;
                sum += dy[(((ptrdiff_t)n * d->p + p) * d->q + q) * d->k + k] *
                       x[(((ptrdiff_t)n * d->h + row) * d->w + column) * d->c + x_c];
              }
            }
          }
          dw[out] = d->accumulate ? dw[out] + sum : sum;
        }
      }
    }
  }
}
