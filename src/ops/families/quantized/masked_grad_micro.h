/* quantized_conv2d_input_grad_masked for microcontrollers, in the place of the function of ref.h
   and with its results: what the mask makes 0 is not computed. Plain C99. */
#ifndef QUANTIZED_DSP_MASKED /* masked_grad_cortex_m_dsp.h has its own */
#include "ops/quantized_conv2d_input_grad/micro.h"

/* Channels of dy that are summed at once. */
#define QUANTIZED_MASKED_DEPTH 16

/* dx[c] += the sum over 16 channels k of y[k] w[c,k], for the channels c of these bytes whose bit
   is set. w: [8 bytes, 16]. */
static void quantized_masked_sums(real* dx, const real* y, const real* w, const uint8_t* bits,
                                  int bytes) {
  for (int c = 0; c < 8 * bytes; ++c, w += QUANTIZED_MASKED_DEPTH) {
    real sum = dx[c];
    if ((bits[c / 8] >> (c % 8) & 1) == 0) continue;
    for (int k = 0; k < QUANTIZED_MASKED_DEPTH; ++k) sum = quantized_micro_plus(sum, y[k], w[k]);
    dx[c] = sum;
  }
}

/* to[16c + k] = w[step k + c], for 16 k and n channels c, a multiple of four. */
static void quantized_masked_weights(real* to, const int8_t* w, int step, int n) {
  for (const int8_t* const end = w + n; w != end; ++w) {
    for (int k = 0; k < QUANTIZED_MASKED_DEPTH; ++k) *to++ = (real)w[(ptrdiff_t)k * step];
  }
}
#endif

/* Channels of dx whose weights are converted at once. */
#define QUANTIZED_MASKED_CHANNELS 64

/* Whether so many of 8n bits are not set that it pays to look at each of them. Every seventh byte
   counts. */
static int quantized_masked_pays(const uint8_t* bits, int n) {
  int set = 0, most = 0;
  for (int i = 0; i < n; i += 7, most += 3 * 8) {
    for (int byte = bits[i]; byte != 0; byte &= byte - 1) set += 4;
  }
  return set <= most;
}

/* Windows of one pixel. channels: a multiple of eight, from_channels: of 16. */
static void quantized_masked_pointwise(real* dx, const real* dy, const int8_t* w,
                                       const uint8_t* bits, int pixels, int channels,
                                       int from_channels) {
  real floats[QUANTIZED_MASKED_DEPTH * QUANTIZED_MASKED_CHANNELS];
  memset(dx, 0, sizeof *dx * (size_t)pixels * (size_t)channels);
  for (int c = 0; c < channels; c += QUANTIZED_MASKED_CHANNELS) {
    const int rest = channels - c;
    const int n = rest < QUANTIZED_MASKED_CHANNELS ? rest : QUANTIZED_MASKED_CHANNELS;
    for (int first = 0; first < from_channels; first += QUANTIZED_MASKED_DEPTH) {
      real* to = dx + c;
      const real* y = dy + first;
      const uint8_t* set = bits + c / 8;
      quantized_masked_weights(floats, w + (ptrdiff_t)first * channels + c, channels, n);
      for (int i = 0; i < pixels; ++i, to += channels, y += from_channels, set += channels / 8) {
        quantized_masked_sums(to, y, floats, set, n / 8);
      }
    }
  }
}

static void quantized_conv2d_input_grad_masked_ref(real* dx, const real* dy, const int8_t* w,
                                                   const uint8_t* bits,
                                                   const conv2d_input_grad_dims* d) {
  const int n = d->n * d->h * d->w * d->c;
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->groups == 1 && d->h == d->p && d->w == d->q && d->pad_top == 0 &&
                           d->pad_left == 0;
  if (is_pointwise && d->c % 8 == 0 && d->k % QUANTIZED_MASKED_DEPTH == 0 &&
      quantized_masked_pays(bits, n / 8)) {
    quantized_masked_pointwise(dx, dy, w, bits, d->n * d->h * d->w, d->c, d->k);
    return;
  }
  quantized_conv2d_input_grad_ref(dx, dy, w, d);
  for (int i = 0; i < n; ++i) {
    if ((bits[i / 8] >> (i % 8) & 1) == 0) dx[i] = 0;
  }
}
