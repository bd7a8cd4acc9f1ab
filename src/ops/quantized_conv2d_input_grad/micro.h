/* Gradients of quantized_conv2d in its input for microcontrollers, in the place of the functions of
   ref.h and with their results: sums are taken in the same order. Plain C99. */
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_input_grad/dims.h"

/* dx[i,c] = sum over k of dy[i,k] w[k,c], for four pixels and four channels. */
static void quantized_input_grad_tile(real* dx, const real* dy, const int8_t* w, int channels,
                                      int from_channels) {
  real a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  real b0 = 0, b1 = 0, b2 = 0, b3 = 0;
  real c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  real d0 = 0, d1 = 0, d2 = 0, d3 = 0;
  const real* dy1 = dy + from_channels;
  const real* dy2 = dy1 + from_channels;
  const real* dy3 = dy2 + from_channels;
  const real* const end = dy1;
  while (dy != end) {
    const real w0 = (real)w[0];
    const real w1 = (real)w[1];
    const real w2 = (real)w[2];
    const real w3 = (real)w[3];
    real pixel = *dy++;
    a0 = quantized_micro_plus(a0, pixel, w0);
    a1 = quantized_micro_plus(a1, pixel, w1);
    a2 = quantized_micro_plus(a2, pixel, w2);
    a3 = quantized_micro_plus(a3, pixel, w3);
    pixel = *dy1++;
    b0 = quantized_micro_plus(b0, pixel, w0);
    b1 = quantized_micro_plus(b1, pixel, w1);
    b2 = quantized_micro_plus(b2, pixel, w2);
    b3 = quantized_micro_plus(b3, pixel, w3);
    pixel = *dy2++;
    c0 = quantized_micro_plus(c0, pixel, w0);
    c1 = quantized_micro_plus(c1, pixel, w1);
    c2 = quantized_micro_plus(c2, pixel, w2);
    c3 = quantized_micro_plus(c3, pixel, w3);
    pixel = *dy3++;
    d0 = quantized_micro_plus(d0, pixel, w0);
    d1 = quantized_micro_plus(d1, pixel, w1);
    d2 = quantized_micro_plus(d2, pixel, w2);
    d3 = quantized_micro_plus(d3, pixel, w3);
    w += channels;
  }
  dx[0] = a0;
  dx[1] = a1;
  dx[2] = a2;
  dx[3] = a3;
  dx += channels;
  dx[0] = b0;
  dx[1] = b1;
  dx[2] = b2;
  dx[3] = b3;
  dx += channels;
  dx[0] = c0;
  dx[1] = c1;
  dx[2] = c2;
  dx[3] = c3;
  dx += channels;
  dx[0] = d0;
  dx[1] = d1;
  dx[2] = d2;
  dx[3] = d3;
}

/* The same of one pixel and channel. */
static real quantized_input_grad_one(const real* dy, const int8_t* w, int channels,
                                     int from_channels) {
  real sum = 0;
  for (int k = 0; k < from_channels; ++k)
    sum = quantized_micro_plus(sum, dy[k], (real)w[(ptrdiff_t)k * channels]);

  return sum;
}

/* Windows of one pixel. */
static void quantized_input_grad_pointwise(real* dx, const real* dy, const int8_t* w, int pixels,
                                           int channels, int from_channels) {
  int i = 0;
  for (; i + 4 <= pixels; i += 4, dx += 4 * channels, dy += 4 * from_channels) {
    int c = 0;
    for (; c + 4 <= channels; c += 4) {
      quantized_input_grad_tile(dx + c, dy, w + c, channels, from_channels);
    }
    for (; c < channels; ++c) {
      for (int j = 0; j < 4; ++j) {
        dx[j * channels + c] =
            quantized_input_grad_one(dy + j * from_channels, w + c, channels, from_channels);
      }
    }
  }
  for (; i < pixels; ++i, dx += channels, dy += from_channels) {
    for (int c = 0; c < channels; ++c) {
      dx[c] = quantized_input_grad_one(dy, w + c, channels, from_channels);
    }
  }
}

/* Any window. The sum of an element is taken over r, s and k, as in ref.h. */
static void quantized_conv2d_input_grad_ref(real* dx, const real* dy, const int8_t* w,
                                            const conv2d_input_grad_dims* d) {
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->groups == 1 && d->h == d->p && d->w == d->q && d->pad_top == 0 &&
                           d->pad_left == 0;
  if (is_pointwise) {
    quantized_input_grad_pointwise(dx, dy, w, d->n * d->h * d->w, d->c, d->k);
    return;
  }
  for (int n = 0; n < d->n; ++n) {
    for (int h = 0; h < d->h; ++h) {
      for (int column = 0; column < d->w; ++column, dx += d->c) {
        for (int c = 0; c < d->c; ++c) dx[c] = 0;
        for (int r = 0; r < d->r; ++r) {
          const int from_h = h + d->pad_top - r * d->dilation_h;
          const int p = from_h / d->stride_h;
          if (from_h < 0 || from_h % d->stride_h != 0 || p >= d->p) continue;
          for (int s = 0; s < d->s; ++s) {
            const int from_w = column + d->pad_left - s * d->dilation_w;
            const int q = from_w / d->stride_w;
            const real* pixel;
            if (from_w < 0 || from_w % d->stride_w != 0 || q >= d->q) continue;
            pixel = dy + (((ptrdiff_t)n * d->p + p) * d->q + q) * d->k;
            if (group_c == 1 && group_k == 1) {
              const int8_t* tap = w + r * d->s + s;
              const int taps = d->r * d->s;
              for (int c = 0; c < d->c; ++c, tap += taps)
                dx[c] = quantized_micro_plus(dx[c], pixel[c], (real)*tap);

              continue;
            }
            for (int c = 0; c < d->c; ++c) {
              const int first_k = c / group_c * group_k;
              for (int k = first_k; k < first_k + group_k; ++k) {
                const ptrdiff_t tap = ((ptrdiff_t)k * d->r + r) * d->s + s;
                dx[c] += pixel[k] * (real)w[tap * group_c + c % group_c];
              }
            }
          }
        }
      }
    }
  }
}

/* See ref.h: dx may be dy. Of each channel, rows of dy wait in `kept`, of which the pointers of a
   window's rows are known before its pixels are computed. */
static void quantized_depthwise_input_grad_ref(real* dx, const real* dy, const int8_t* w,
                                               const conv2d_input_grad_dims* d) {
  real kept[QUANTIZED_KEPT_NUMBERS];
  const int rows = (d->r - 1) * d->dilation_h - d->pad_top + 1;
  const int channels = d->c;
  for (int n = 0; n < d->n; ++n) {
    const real* const image = dy + (ptrdiff_t)n * d->h * d->w * channels;
    for (int c = 0; c < channels; ++c) {
      const int8_t* const taps = w + (ptrdiff_t)c * d->r * d->s;
      for (int h = 0; h < d->h; ++h) {
        const ptrdiff_t row = (ptrdiff_t)h * d->w;
        real* const own = kept + h % rows * d->q;
        real* to = dx + ((ptrdiff_t)n * d->h * d->w + row) * channels + c;
        for (int q = 0; q < d->q; ++q) own[q] = image[(row + q) * channels + c];
        for (int column = 0; column < d->w; ++column, to += channels) {
          const int reach = column + d->pad_left;
          real sum = 0;
          /* Taps [first, last) read columns of the image. */
          int first = reach >= d->q ? (reach - d->q) / d->dilation_w + 1 : 0;
          int last = reach / d->dilation_w + 1;
          if (last > d->s) last = d->s;
          for (int r = 0; r < d->r; ++r) {
            const int p = h + d->pad_top - r * d->dilation_h;
            const int8_t* tap = taps + r * d->s + first;
            const int8_t* const end = taps + r * d->s + last;
            int q = reach - first * d->dilation_w;
            if (p < 0 || p >= d->p || first >= last) continue;
            if (p > h) {
              const real* from = image + ((ptrdiff_t)p * d->q + q) * channels + c;
              for (; tap != end; from -= d->dilation_w * channels)
                sum = quantized_micro_plus(sum, *from, (real)*tap++);

            } else {
              const real* from = kept + p % rows * d->q + q;
              for (; tap != end; from -= d->dilation_w)
                sum = quantized_micro_plus(sum, *from, (real)*tap++);
            }
          }
          *to = sum;
        }
      }
    }
  }
}
