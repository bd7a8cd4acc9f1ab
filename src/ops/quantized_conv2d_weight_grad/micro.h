/* Gradients of quantized_conv2d in its weights for microcontrollers, in the place of the function
   of ref.h and with its results: sums are taken in the same order. Plain C99. */
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"

/* dw[k,c] = sum over pixels i of dy[i,k] (x[i,c] - zero), for four k and three c. */
static void quantized_weight_grad_tile(real* dw, const int8_t* x, const real* dy, int zero,
                                       int pixels, int channels, int to_channels) {
  real a0 = 0, a1 = 0, a2 = 0, b0 = 0, b1 = 0, b2 = 0;
  real c0 = 0, c1 = 0, c2 = 0, d0 = 0, d1 = 0, d2 = 0;
  for (int i = 0; i < pixels; ++i, x += channels, dy += to_channels) {
    const real x0 = (real)(x[0] - zero);
    const real x1 = (real)(x[1] - zero);
    const real x2 = (real)(x[2] - zero);
    a0 = quantized_micro_plus(a0, dy[0], x0);
    a1 = quantized_micro_plus(a1, dy[0], x1);
    a2 = quantized_micro_plus(a2, dy[0], x2);
    b0 = quantized_micro_plus(b0, dy[1], x0);
    b1 = quantized_micro_plus(b1, dy[1], x1);
    b2 = quantized_micro_plus(b2, dy[1], x2);
    c0 = quantized_micro_plus(c0, dy[2], x0);
    c1 = quantized_micro_plus(c1, dy[2], x1);
    c2 = quantized_micro_plus(c2, dy[2], x2);
    d0 = quantized_micro_plus(d0, dy[3], x0);
    d1 = quantized_micro_plus(d1, dy[3], x1);
    d2 = quantized_micro_plus(d2, dy[3], x2);
  }
  dw[0] = a0;
  dw[1] = a1;
  dw[2] = a2;
  dw += channels;
  dw[0] = b0;
  dw[1] = b1;
  dw[2] = b2;
  dw += channels;
  dw[0] = c0;
  dw[1] = c1;
  dw[2] = c2;
  dw += channels;
  dw[0] = d0;
  dw[1] = d1;
  dw[2] = d2;
}

/* The sum of one weight; dw[k,r,s,c] as in ref.h, x_c: its channel of x. */
static real quantized_weight_grad_one(const int8_t* x, const real* dy,
                                      const quantized_conv2d_weight_grad_dims* dims, int k, int r,
                                      int s, int x_c) {
  const conv2d_weight_grad_dims* d = &dims->conv;
  real sum = 0;
  for (int n = 0; n < d->n; ++n) {
    for (int p = 0; p < d->p; ++p) {
      const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
      if (row < 0 || row >= d->h) continue;
      for (int q = 0; q < d->q; ++q) {
        const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
        if (column < 0 || column >= d->w) continue;
        sum += dy[(((ptrdiff_t)n * d->p + p) * d->q + q) * d->k + k] *
               (real)(x[(((ptrdiff_t)n * d->h + row) * d->w + column) * d->c + x_c] -
                      dims->zero_point);
      }
    }
  }
  return sum;
}

/* Tiles of windows of one pixel, for the first d->k / 4 * 4 channels of dy. Returns for how many
   channels of x. */
static int quantized_weight_grad_plain_tiles(real* dw, const int8_t* x, const real* dy,
                                             const quantized_conv2d_weight_grad_dims* dims) {
  const conv2d_weight_grad_dims* d = &dims->conv;
  const int tiled_c = d->c / 3 * 3;
  for (int k = 0; k + 4 <= d->k; k += 4) {
    for (int c = 0; c < tiled_c; c += 3) {
      quantized_weight_grad_tile(dw + (ptrdiff_t)k * d->c + c, x + c, dy + k, dims->zero_point,
                                 d->n * d->p * d->q, d->c, d->k);
    }
  }
  return tiled_c;
}

/* weight_grad_cortex_m_dsp.h and weight_grad_helium.h have their own. */
#ifndef QUANTIZED_OWN_TILES
static int quantized_weight_grad_tiles(real* dw, const int8_t* x, const real* dy,
                                       const quantized_conv2d_weight_grad_dims* dims) {
  return quantized_weight_grad_plain_tiles(dw, x, dy, dims);
}
#else
static int quantized_weight_grad_tiles(real* dw, const int8_t* x, const real* dy,
                                       const quantized_conv2d_weight_grad_dims* dims);
#endif

static void quantized_conv2d_weight_grad_ref(real* dw, const int8_t* x, const real* dy,
                                             const quantized_conv2d_weight_grad_dims* dims) {
  const conv2d_weight_grad_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->groups == 1 && d->h == d->p && d->w == d->q && d->pad_top == 0 &&
                           d->pad_left == 0;
  const int tiled_k = is_pointwise ? d->k / 4 * 4 : 0;
  const int tiled_c = is_pointwise ? quantized_weight_grad_tiles(dw, x, dy, dims) : 0;
  for (int k = 0; k < d->k; ++k) {
    for (int r = 0; r < d->r; ++r) {
      for (int s = 0; s < d->s; ++s, dw += group_c) {
        for (int c = k < tiled_k ? tiled_c : 0; c < group_c; ++c) {
          dw[c] = quantized_weight_grad_one(x, dy, dims, k, r, s, k / group_k * group_c + c);
        }
      }
    }
  }
}
