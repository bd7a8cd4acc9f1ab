#include "ops/quantized_conv2d_weight_grad/dims.h"

/* Gradient of quantized_conv2d in its weights, from that of its sums:
   dw[k,r,s,c] = sum_{n,p,q} dy[n,p,q,k] (x[n, p*stride+r*dilation-pad, ..., c] - zero point).
   x: [n,h,w,c], dy: [n,p,q,k], dw: [k,r,s,c/groups]; dw aliases nothing. */
static void quantized_conv2d_weight_grad_ref(real* dw, const int8_t* x, const real* dy,
                                             const quantized_conv2d_weight_grad_dims* dims) {
  const conv2d_weight_grad_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  for (int k = 0; k < d->k; ++k) {
    for (int r = 0; r < d->r; ++r) {
      for (int s = 0; s < d->s; ++s) {
        for (int c = 0; c < group_c; ++c) {
          const int x_c = k / group_k * group_c + c;
          real sum = 0;
          for (int n = 0; n < d->n; ++n) {
            for (int p = 0; p < d->p; ++p) {
              const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
              if (row < 0 || row >= d->h) continue;
              for (int q = 0; q < d->q; ++q) {
                const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
                if (column < 0 || column >= d->w) continue;
                const int number = x[(((ptrdiff_t)n * d->h + row) * d->w + column) * d->c + x_c];
                sum += dy[(((ptrdiff_t)n * d->p + p) * d->q + q) * d->k + k] *
                       (real)(number - dims->zero_point);
              }
            }
          }
          *dw++ = sum;
        }
      }
    }
  }
}
