/* Rows of int8 convolutions for the target helium, depthwise ones by vectors of taps. Results are
   those of conv_micro.h. */
#include "ops/families/quantized/channels_helium.h"

/* Bytes of a channel of rows of the image, and most of such rows. */
#define QUANTIZED_HELIUM_PLANE 1024
#define QUANTIZED_HELIUM_LINES 32

/* Rows of windows that are one vector. */
static inline int quantized_helium_vector_rows(const conv_dims* d) {
  return 16 / d->s < d->r ? 16 / d->s : d->r;
}

/* Some rows of a channel that is no small one. y, window: of the first result. */
static void quantized_helium_any_rows(int8_t* y, const int8_t* window, quantized_helium_windows* c,
                                      const conv_dims* d, int pitch, int rows) {
  const int by_row = d->q % QUANTIZED_MICRO_PIXELS != 0;
  const int last_four = d->q - QUANTIZED_MICRO_PIXELS;
  if (!by_row) {
    quantized_helium_rows(y, window, c);
    return;
  }
  for (; rows > 0; --rows, window += d->stride_h * pitch, y += (ptrdiff_t)d->q * d->k) {
    const int whole = c->together;
    c->rows = 1;
    quantized_helium_rows(y, window, c);
    /* The last four, of which some are computed again. */
    c->together = c->rows = 1;
    quantized_helium_rows(y + (ptrdiff_t)last_four * d->k, window + last_four * d->stride_w, c);
    c->together = whole;
  }
}

/* Rows [p, last) of a depthwise convolution: lines of `pitch` cells of one channel at a time, in
   which what lies outside of the image is the zero point. together: rows for which there is room.
 */
static void quantized_helium_depthwise(const quantized_micro_out* out, ptrdiff_t at,
                                       const int8_t* x, int rows, const int8_t* w,
                                       const int32_t* bias, const quantized_conv2d_dims* dims,
                                       const quantized_factor* factors, int p, int last, int pitch,
                                       int together) {
  const conv_dims* d = &dims->conv;
  const int room = pitch - d->pad_left;
  const int columns = d->w < room ? d->w : room;
  const int all = d->r * d->s;
  const int taps = quantized_helium_vector_rows(d) * d->s;
  const int channels = d->k;
  const int zero = dims->input_zero_point;
  /* Rows that the vectors of a window cover. */
  const int window_rows = (all + taps - 1) / taps * (taps / d->s);
  const int8_t* lines[QUANTIZED_HELIUM_LINES];
  int8_t plane[QUANTIZED_HELIUM_PLANE];
  quantized_helium_windows c;
  int is_small;
  c.vectors = (all + taps - 1) / taps;
  c.x_step = taps / d->s * pitch;
  c.x_next = QUANTIZED_MICRO_PIXELS * d->stride_w;
  c.x_back = c.vectors * c.x_step - c.x_next;
  c.y_step = out->y ? QUANTIZED_MICRO_PIXELS * channels : 0;
  c.bits_step = QUANTIZED_MICRO_PIXELS * channels / 8;
  c.zero = out->result->zero_point;
  c.together = d->q / QUANTIZED_MICRO_PIXELS;
  c.x_row = d->stride_h * pitch - c.together * c.x_next;
  is_small = c.vectors == 1 && out->y && !out->bits && d->q % QUANTIZED_MICRO_PIXELS == 0 && bias;
  c.lines = lines;
  c.step = channels;
  c.n = columns;
  c.pitch = pitch;
  c.x = plane;
  c.taps = all;
  c.less = -zero;
  for (int j = 0; j < QUANTIZED_MICRO_PIXELS; ++j) {
    c.steps[j] = out->y ? (uint32_t)(j * channels) : 0;
    c.steps[4 + j] = (uint32_t)(j * channels / 8);
    memset(c.places[j], 0, sizeof c.places[j]);
    for (int i = 0, t = 0; t < taps; ++i) {
      for (int s = 0; s < d->s; ++s, ++t) {
        c.places[j][t] = (uint8_t)(i * pitch + s + j * d->stride_w);
      }
    }
  }
  while (p < last) {
    const int next = last - p < together ? last : p + together;
    const int first = p * d->stride_h - d->pad_top;
    const int above = first < 0 ? -first : 0; /* lines that lie there */
    int8_t* const inside = plane + above * pitch + d->pad_left;
    int8_t none = 0;
    int below = first + (next - p - 1) * d->stride_h + d->r;
    int count = 0;
    if (below > d->h) below = d->h;
    for (int row = first + above; row < below; ++row) {
      lines[count++] = x + (ptrdiff_t)(row % rows) * d->w * d->c;
    }
    memset(plane, zero, (size_t)(((next - p - 1) * d->stride_h + window_rows) * pitch));
    for (int k = 0; k < channels; ++k) {
      const int small = is_small && count > 0 ? quantized_helium_small(bias + k, channels - k) : 0;
      const int8_t* const weights = w + (ptrdiff_t)k * all;
      int8_t* const y = out->y ? out->y + at + k : &none;
      c.rows = next - p;
      if (small > 0) {
        c.count = count;
        c.k = k;
        c.to = inside;
        c.weights = weights;
        c.added = bias + k;
        c.factors = factors + k;
        c.channels = small;
        c.y = y;
        quantized_helium_small_channels(&c);
        k += small - 1;
        continue;
      }
      const int32_t less = -zero * quantized_helium_weights(&c, weights, taps, all);
      for (int j = 0; j < 4; ++j) c.start[j] = less;
      c.bias = bias ? bias[k] : 0;
      c.scale = factors[k].scale;
      if (count > 0) quantized_helium_gather(inside, lines, count, k, channels, columns, pitch);
      c.bits = out->bits ? out->bits + (at + k) / 8 : NULL;
      c.bit = 1 << (k & 7);
      quantized_helium_any_rows(y, plane, &c, d, pitch, next - p);
    }
    at += (ptrdiff_t)(next - p) * d->q * channels;
    p = next;
  }
}

/* The rows of results that QUANTIZED_HELIUM_PLANE has room for; 0: see quantized_dsp_rows. */
static int quantized_helium_depthwise_rows(const conv_dims* d, int pitch) {
  const int is_taken = d->groups == d->c && d->k == d->c && d->s <= 16 && d->c <= 8192 &&
                       d->dilation_h == 1 && d->dilation_w == 1 && d->pad_left >= 0 &&
                       d->pad_left < pitch && d->q >= QUANTIZED_MICRO_PIXELS;
  int vector_rows, vectors, lines;
  if (!is_taken) return 0;
  vector_rows = quantized_helium_vector_rows(d);
  vectors = (d->r + vector_rows - 1) / vector_rows;
  lines = QUANTIZED_HELIUM_PLANE / pitch - (vectors * vector_rows - d->r);
  if (lines > QUANTIZED_HELIUM_LINES) lines = QUANTIZED_HELIUM_LINES;
  if ((vector_rows - 1) * pitch + d->s - 1 + 3 * d->stride_w > 255) return 0;
  return vectors <= 4 && lines >= d->r ? (lines - d->r) / d->stride_h + 1 : 0;
}

/* Rows [p, last) of the results of one image, from number `at` on; in the place of the function of
   conv_micro.h. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  const conv_dims* d = &dims->conv;
  const int is_plain = out->is_plain && (out->bits == NULL || d->k % 8 == 0);
  const int is_pointwise = d->r == 1 && d->s == 1 && d->stride_h == 1 && d->stride_w == 1 &&
                           d->h == d->p && d->w == d->q && d->pad_top == 0 && d->pad_left == 0;
  if (is_plain && d->groups == 1 && d->k % 4 == 0 && d->dilation_h == 1 && d->dilation_w == 1 &&
      d->r * d->s * d->c <= QUANTIZED_MICRO_TAPS) {
    if (is_pointwise && (rows >= d->h || last - p == 1)) {
      quantized_helium_pixels(out, at, x + (ptrdiff_t)(p % rows) * d->w * d->c, (last - p) * d->q,
                              w, bias, dims, factors);
    } else {
      quantized_helium_dense(out, at, x, rows, w, bias, dims, factors, p, last);
    }
    return;
  }
  if (is_plain && (out->bits == NULL || d->q % QUANTIZED_MICRO_PIXELS == 0)) {
    const int pitch = (d->q - 1) * d->stride_w + d->s;
    const int together = quantized_helium_depthwise_rows(d, pitch);
    if (together > 0) {
      quantized_helium_depthwise(out, at, x, rows, w, bias, dims, factors, p, last, pitch,
                                 together);
      return;
    }
  }
  quantized_dsp_rows(out, at, x, rows, w, bias, dims, factors, p, last);
}
