/* Gradients of quantized_conv2d in its weights for microcontrollers, in the place of the function
   of ref.h and with its results: sums are taken in the same order. Plain C99. */
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"

/* Pixels of a row of dy, of which a row of the window lies within the image: its taps stand side by
   side in x and among the weights. */
typedef struct quantized_weight_run {
  const int8_t* x; /* the first tap of the first pixel */
  const real* dy;  /* [n,k] */
  int n;
  int step; /* from a pixel of x to the next */
  int zero;
  int taps; /* of a row of the window */
  int k;
  int size; /* weights of a channel of dy */
} quantized_weight_run;

/* dw[k,t] += sum over the pixels i of dy[i,k] (x[i,t] - zero), for k in [k, end) and t from the
   given one on. */
static void quantized_weight_grad_rest(real* dw, const quantized_weight_run* run, int k, int end,
                                       int first) {
  for (; k < end; ++k) {
    for (int t = first; t < run->taps; ++t) {
      const int8_t* x = run->x + t;
      const real* dy = run->dy + k;
      real sum = dw[k * run->size + t];
      for (int i = run->n; i > 0; --i, x += run->step, dy += run->k) {
        sum = quantized_micro_plus(sum, *dy, (real)(*x - run->zero));
      }
      dw[k * run->size + t] = sum;
    }
  }
}

/* The same for four k and three t. */
static void quantized_weight_grad_tile(real* dw, const int8_t* x, const real* dy,
                                       const quantized_weight_run* run) {
  real* const dw1 = dw + run->size;
  real* const dw2 = dw1 + run->size;
  real* const dw3 = dw2 + run->size;
  const int zero = run->zero;
  real a0 = dw[0], a1 = dw[1], a2 = dw[2], b0 = dw1[0], b1 = dw1[1], b2 = dw1[2];
  real c0 = dw2[0], c1 = dw2[1], c2 = dw2[2], d0 = dw3[0], d1 = dw3[1], d2 = dw3[2];
  for (int i = run->n; i > 0; --i, x += run->step, dy += run->k) {
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
  dw1[0] = b0;
  dw1[1] = b1;
  dw1[2] = b2;
  dw2[0] = c0;
  dw2[1] = c1;
  dw2[2] = c2;
  dw3[0] = d0;
  dw3[1] = d1;
  dw3[2] = d2;
}

/* Adds a run to all gradients of a row of the window. */
static void quantized_weight_grad_plain_run(real* dw, const quantized_weight_run* run) {
  const int tiled_k = run->k & ~3;
  const int tiled = run->taps / 3 * 3;
  for (int k = 0; k < tiled_k; k += 4) {
    for (int t = 0; t < tiled; t += 3) {
      quantized_weight_grad_tile(dw + k * run->size + t, run->x + t, run->dy + k, run);
    }
  }
  quantized_weight_grad_rest(dw, run, 0, tiled_k, tiled);
  quantized_weight_grad_rest(dw, run, tiled_k, run->k, 0);
}

#ifndef QUANTIZED_OWN_TILES /* weight_grad_cortex_m_dsp.h has its own */
static void quantized_weight_grad_run(real* dw, const quantized_weight_run* run) {
  quantized_weight_grad_plain_run(dw, run);
}
#else
static void quantized_weight_grad_run(real* dw, const quantized_weight_run* run);
#endif

/* Adds pixel dy of column q to a row of the window. dw: its first weight, x: the row of the image.
 */
static void quantized_weight_grad_pixel(real* dw, const int8_t* x, const real* dy, int q,
                                        const quantized_conv2d_weight_grad_dims* dims) {
  const conv2d_weight_grad_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int size = d->r * d->s * group_c;
  for (int s = 0; s < d->s; ++s, dw += group_c) {
    const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
    if (column < 0 || column >= d->w) continue;
    for (int k = 0; k < d->k; ++k) {
      const int8_t* from = x + (ptrdiff_t)column * d->c + k / group_k * group_c;
      for (int c = 0; c < group_c; ++c) {
        real* const at = dw + k * size + c;
        *at = quantized_micro_plus(*at, dy[k], (real)(from[c] - dims->zero_point));
      }
    }
  }
}

static void quantized_conv2d_weight_grad_ref(real* dw, const int8_t* x, const real* dy,
                                             const quantized_conv2d_weight_grad_dims* dims) {
  quantized_conv2d_weight_grad_dims flat = *dims;
  conv2d_weight_grad_dims* d = &flat.conv;
  const int taps = d->s * (d->c / d->groups);
  if (d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 && d->h == d->p &&
      d->w == d->q && d->pad_top == 0 && d->pad_left == 0) { /* one row */
    d->w = d->q = d->n * d->h * d->w;
    d->n = d->h = d->p = 1;
  }
  /* Columns [first, last) of dy have all taps of a row within the image, side by side. */
  int first = d->pad_left > 0 ? (d->pad_left + d->stride_w - 1) / d->stride_w : 0;
  int last = d->w + d->pad_left - d->s < 0 ? 0 : (d->w + d->pad_left - d->s) / d->stride_w + 1;
  if (last > d->q) last = d->q;
  if (d->groups != 1 || d->dilation_w != 1 || last < first) first = last = d->q;
  memset(dw, 0, sizeof *dw * (size_t)(d->k * d->r * taps));
  for (int n = 0; n < d->n; ++n, x += (ptrdiff_t)d->h * d->w * d->c) {
    for (int p = 0; p < d->p; ++p, dy += (ptrdiff_t)d->q * d->k) {
      for (int r = 0; r < d->r; ++r) {
        const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
        const int8_t* line = x + (ptrdiff_t)row * d->w * d->c;
        real* const to = dw + r * taps;
        if (row < 0 || row >= d->h) continue;
        for (int q = 0; q < d->q; ++q) {
          if (q == first && q < last) {
            const quantized_weight_run run = {
                line + (ptrdiff_t)(q * d->stride_w - d->pad_left) * d->c,
                dy + (ptrdiff_t)q * d->k,
                last - q,
                d->stride_w * d->c,
                flat.zero_point,
                taps,
                d->k,
                d->r * taps};
            quantized_weight_grad_run(to, &run);
            q = last - 1;
            continue;
          }
          quantized_weight_grad_pixel(to, line, dy + (ptrdiff_t)q * d->k, q, &flat);
        }
      }
    }
  }
}
