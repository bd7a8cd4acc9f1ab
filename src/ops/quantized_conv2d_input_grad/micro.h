/* Gradients of quantized_conv2d in its input for microcontrollers, in the place of the functions of
   ref.h and with their results: sums are taken in the same order. Plain C99. */
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_input_grad/dims.h"

#ifndef QUANTIZED_DSP_TILES /* cortex_m_dsp.h has its own */
#include "ops/families/quantized/wide_micro.h"

/* dx[i,c] += sum over n channels k of dy[i,k] w[k,c], for four pixels and four channels; w: [n,4],
   converted to f32. */
static void quantized_input_grad_tile(real* dx, const real* dy, const real* w, int channels,
                                      int from_channels, int n) {
  real* const dx1 = dx + channels;
  real* const dx2 = dx1 + channels;
  real* const dx3 = dx2 + channels;
  real a0 = dx[0], a1 = dx[1], a2 = dx[2], a3 = dx[3];
  real b0 = dx1[0], b1 = dx1[1], b2 = dx1[2], b3 = dx1[3];
  real c0 = dx2[0], c1 = dx2[1], c2 = dx2[2], c3 = dx2[3];
  real d0 = dx3[0], d1 = dx3[1], d2 = dx3[2], d3 = dx3[3];
  const real* dy1 = dy + from_channels;
  const real* dy2 = dy1 + from_channels;
  const real* dy3 = dy2 + from_channels;
  const real* const end = w + 4 * n;
  for (; w != end; w += 4) {
    const real w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
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
  }
  dx[0] = a0;
  dx[1] = a1;
  dx[2] = a2;
  dx[3] = a3;
  dx1[0] = b0;
  dx1[1] = b1;
  dx1[2] = b2;
  dx1[3] = b3;
  dx2[0] = c0;
  dx2[1] = c1;
  dx2[2] = c2;
  dx2[3] = c3;
  dx3[0] = d0;
  dx3[1] = d1;
  dx3[2] = d2;
  dx3[3] = d3;
}
#endif

/* The same of one pixel and channel. */
static real quantized_input_grad_one(const real* dy, const int8_t* w, int channels,
                                     int from_channels) {
  real sum = 0;
  for (int k = 0; k < from_channels; ++k)
    sum = quantized_micro_plus(sum, dy[k], (real)w[(ptrdiff_t)k * channels]);

  return sum;
}

#ifndef QUANTIZED_DSP_TILES
/* The weights of four channels for n channels of dy in f32. to: [n,4], w: of the first of the
   former, n: not 0. */
static void quantized_input_grad_weights(real* to, const int8_t* w, int channels, int n) {
  for (real* const end = to + 4 * n; to != end; to += 4, w += channels) {
    to[0] = (real)w[0];
    to[1] = (real)w[1];
    to[2] = (real)w[2];
    to[3] = (real)w[3];
  }
}
#endif

/* Channels of dy whose weights are converted at once. */
#define QUANTIZED_MICRO_FROM 64

/* Channels [0, some) of all pixels, where many numbers of dy are 0. some: a multiple of 16,
   from_channels: of four. */
static void quantized_input_grad_sparse(real* dx, const real* dy, const int8_t* w, int pixels,
                                        int channels, int from_channels, int some) {
  const real none[QUANTIZED_MICRO_WIDE] = {0};
  real floats[QUANTIZED_MICRO_WIDE * QUANTIZED_MICRO_FROM];
  for (int c = 0; c < some; c += QUANTIZED_MICRO_WIDE) {
    for (int first = 0; first < from_channels; first += QUANTIZED_MICRO_FROM) {
      const int rest = from_channels - first;
      const int n = rest < QUANTIZED_MICRO_FROM ? rest : QUANTIZED_MICRO_FROM;
      const real* y = dy + first;
      real* to = dx + c;
      quantized_micro_wide_floats(floats, w + (ptrdiff_t)first * channels + c, channels, 0, n);
      for (int i = 0; i < pixels; ++i, to += channels, y += from_channels) {
        quantized_micro_wide(to, first > 0 ? to : none, y, floats, n);
      }
    }
  }
}

/* Windows of one pixel. */
static void quantized_input_grad_plain_pointwise(real* dx, const real* dy, const int8_t* w,
                                                 int pixels, int channels, int from_channels) {
  const int tiled_pixels = pixels & ~3;
  const int tiled = channels & ~3;
  /* Few pixels have no tiles. */
  const int takes_some = from_channels % 4 == 0 &&
                         (pixels < 4 || quantized_micro_is_sparse(dy, pixels * from_channels));
  const int some = takes_some ? channels & ~(QUANTIZED_MICRO_WIDE - 1) : 0;
  real floats[4 * QUANTIZED_MICRO_FROM];
  if (some > 0) quantized_input_grad_sparse(dx, dy, w, pixels, channels, from_channels, some);
  for (int i = 0; i < tiled_pixels; ++i) {
    real* const pixel = dx + (ptrdiff_t)i * channels;
    for (int c = some; c < tiled; ++c) pixel[c] = 0;
  }
  for (int c = some; c < tiled; c += 4) {
    for (int first = 0; first < from_channels; first += QUANTIZED_MICRO_FROM) {
      const int rest = from_channels - first;
      const int n = rest < QUANTIZED_MICRO_FROM ? rest : QUANTIZED_MICRO_FROM;
      const int8_t* from = w + (ptrdiff_t)first * channels + c;
      quantized_input_grad_weights(floats, from, channels, n);
      for (int i = 0; i < tiled_pixels; i += 4) {
        quantized_input_grad_tile(dx + (ptrdiff_t)i * channels + c,
                                  dy + (ptrdiff_t)i * from_channels + first, floats, channels,
                                  from_channels, n);
      }
    }
  }
  for (int i = 0; i < pixels; ++i, dx += channels, dy += from_channels) {
    for (int c = i < tiled_pixels ? tiled : some; c < channels; ++c) {
      dx[c] = quantized_input_grad_one(dy, w + c, channels, from_channels);
    }
  }
}

#ifndef QUANTIZED_HELIUM_TILES /* input_grad_helium.h has its own */
static void quantized_input_grad_pointwise(real* dx, const real* dy, const int8_t* w, int pixels,
                                           int channels, int from_channels) {
  quantized_input_grad_plain_pointwise(dx, dy, w, pixels, channels, from_channels);
}

/* Computes a depthwise gradient, if it can, and returns whether it has. */
static int quantized_input_grad_depthwise(real* dx, const real* dy, const int8_t* w,
                                          const conv2d_input_grad_dims* d) {
  (void)dx;
  (void)dy;
  (void)w;
  (void)d;
  return 0;
}
#else
static void quantized_input_grad_pointwise(real* dx, const real* dy, const int8_t* w, int pixels,
                                           int channels, int from_channels);
static int quantized_input_grad_depthwise(real* dx, const real* dy, const int8_t* w,
                                          const conv2d_input_grad_dims* d);
static void quantized_micro_planes(real* dx, const real* dy, const int8_t* w,
                                   const conv2d_input_grad_dims* d);
#endif

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
  if (group_c == 1 && group_k == 1 && quantized_input_grad_depthwise(dx, dy, w, d)) return;
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

/* Numbers of a channel of the image with the edge that windows reach, and taps of a window. */
#define QUANTIZED_MICRO_PLANE 256
#define QUANTIZED_MICRO_PLANE_TAPS 64

/* Numbers of a row of such an image: four results are computed at once. */
static inline int quantized_micro_pitch(const conv2d_input_grad_dims* d) {
  return ((d->w + 3) & ~3) + d->s - 1;
}

/* Whether a channel fits. */
static int quantized_micro_has_plane(const conv2d_input_grad_dims* d) {
  return (d->h + d->r - 1) * quantized_micro_pitch(d) <= QUANTIZED_MICRO_PLANE &&
         d->r * d->s <= QUANTIZED_MICRO_PLANE_TAPS && d->dilation_h == 1 && d->dilation_w == 1 &&
         d->p == d->h && d->q == d->w && d->pad_top >= 0 && d->pad_top < d->r && d->pad_left >= 0 &&
         d->pad_left < d->s;
}

#define QUANTIZED_MICRO_TAP(tap, x0, x1, x2, x3) \
  {                                              \
    const real t_ = tap;                         \
    a0 = quantized_micro_plus(a0, x0, t_);       \
    a1 = quantized_micro_plus(a1, x1, t_);       \
    a2 = quantized_micro_plus(a2, x2, t_);       \
    a3 = quantized_micro_plus(a3, x3, t_);       \
  }

/* to = four results side by side. x: the last row of their windows. */
static void quantized_micro_plane_four(real* to, const real* x, int pitch, const real* taps, int r,
                                       int s) {
  real a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  for (; r > 0; --r, x -= pitch, taps += s) {
    if (s == 3) {
      const real x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3], x4 = x[4], x5 = x[5];
      QUANTIZED_MICRO_TAP(taps[0], x2, x3, x4, x5)
      QUANTIZED_MICRO_TAP(taps[1], x1, x2, x3, x4)
      QUANTIZED_MICRO_TAP(taps[2], x0, x1, x2, x3)
    } else if (s == 5) {
      const real x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
      const real x4 = x[4], x5 = x[5], x6 = x[6], x7 = x[7];
      QUANTIZED_MICRO_TAP(taps[0], x4, x5, x6, x7)
      QUANTIZED_MICRO_TAP(taps[1], x3, x4, x5, x6)
      QUANTIZED_MICRO_TAP(taps[2], x2, x3, x4, x5)
      QUANTIZED_MICRO_TAP(taps[3], x1, x2, x3, x4)
      QUANTIZED_MICRO_TAP(taps[4], x0, x1, x2, x3)
    } else {
      for (int i = 0; i < s; ++i) {
        const real* const from = x + s - 1 - i;
        QUANTIZED_MICRO_TAP(taps[i], from[0], from[1], from[2], from[3])
      }
    }
  }
  to[0] = a0;
  to[1] = a1;
  to[2] = a2;
  to[3] = a3;
}

/* quantized_depthwise_input_grad_ref by way of a copy of a channel with zeros around it: they add
   nothing to sums, which begin with 0. */
static void quantized_micro_plain_planes(real* dx, const real* dy, const int8_t* w,
                                         const conv2d_input_grad_dims* d) {
  real plane[QUANTIZED_MICRO_PLANE];
  real taps[QUANTIZED_MICRO_PLANE_TAPS];
  const int pitch = quantized_micro_pitch(d);
  const int channels = d->c;
  const int count = d->r * d->s;
  real* const image = plane + (d->r - 1 - d->pad_top) * pitch + d->s - 1 - d->pad_left;
  for (int i = 0; i < QUANTIZED_MICRO_PLANE; ++i) plane[i] = 0;
  for (int n = 0; n < d->n; ++n) {
    const ptrdiff_t offset = (ptrdiff_t)n * d->h * d->w * channels;
    const int8_t* tap = w;
    for (int c = 0; c < channels; ++c) {
      const real* from = dy + offset + c;
      real* to = dx + offset + c;
      for (int t = 0; t < count; ++t) taps[t] = (real)*tap++;
      for (int h = 0; h < d->h; ++h) {
        real* cell = image + h * pitch;
        for (real* const end = cell + d->w; cell != end; from += channels) *cell++ = *from;
      }
      for (int h = 0; h < d->h; ++h) {
        const real* const last = plane + (h + d->r - 1) * pitch;
        for (int column = 0; column < d->w; column += 4) {
          const int left = d->w - column;
          real four[4];
          quantized_micro_plane_four(four, last + column, pitch, taps, d->r, d->s);
          for (int i = 0; i < 4 && i < left; ++i, to += channels) *to = four[i];
        }
      }
    }
  }
}

#ifndef QUANTIZED_HELIUM_TILES /* input_grad_helium.h has its own */
static void quantized_micro_planes(real* dx, const real* dy, const int8_t* w,
                                   const conv2d_input_grad_dims* d) {
  quantized_micro_plain_planes(dx, dy, w, d);
}
#endif

/* See ref.h: dx may be dy. Of each channel, rows of dy wait in `kept`, of which the pointers of a
   window's rows are known before its pixels are computed. */
static void quantized_depthwise_input_grad_ref(real* dx, const real* dy, const int8_t* w,
                                               const conv2d_input_grad_dims* d) {
  real kept[QUANTIZED_KEPT_NUMBERS];
  const int rows = (d->r - 1) * d->dilation_h - d->pad_top + 1;
  const int channels = d->c;
  if (quantized_micro_has_plane(d)) {
    quantized_micro_planes(dx, dy, w, d);
    return;
  }
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
