/* Rows of int8 convolutions for the target cortex-m-dsp, depthwise ones by pairs of taps. Results
   are those of conv_micro.h. */
#include "ops/families/quantized/depthwise_rows_cortex_m_dsp.h"

/* The first `count` cells become 0; count: even. */
static void quantized_dsp_clear(int16_t* cells, int count) {
  uint32_t none = 0;
#if defined(__ARM_FEATURE_DSP)
  /* So that this becomes no call of memset, which writes bytes in small C libraries. */
  __asm__("" : "+r"(none));
#endif
  for (int16_t* const end = cells + count; cells != end; cells += 2) {
    memcpy(cells, &none, sizeof none);
  }
}

/* The cells of channels [k, k + 4) from row `first` of the image on. */
static void quantized_dsp_gather(quantized_dsp_planes* planes, const int8_t* x, int rows,
                                 const quantized_conv2d_dims* dims, int k, int first, int lines) {
  const conv_dims* d = &dims->conv;
  const uint32_t less = quantized_dsp_less(dims->input_zero_point);
  const ptrdiff_t channels = d->c;
  const int room = planes->pitch - d->pad_left;
  const int columns = d->w < room ? d->w : room;
  for (int i = 0; i < lines; ++i) {
    const int row = first + i;
    if (row < 0 || row >= d->h) continue;
    const int8_t* from = x + (ptrdiff_t)(row % rows) * d->w * channels + k;
    int16_t* to = planes->of.cells + i * planes->pitch + d->pad_left;
    int16_t* const end = to + (columns & ~1);
    for (; to != end; to += 2) {
      const uint32_t left = quantized_dsp_word(from);
      const uint32_t right = quantized_dsp_word(from += channels);
      const uint32_t lower = quantized_dsp_lower(left, right);
      const uint32_t upper = quantized_dsp_upper(left, right);
      const uint32_t c0 = quantized_dsp_even(less, lower);
      const uint32_t c1 = quantized_dsp_odd(less, lower);
      const uint32_t c2 = quantized_dsp_even(less, upper);
      const uint32_t c3 = quantized_dsp_odd(less, upper);
      memcpy(to, &c0, sizeof c0);
      memcpy(to + QUANTIZED_DSP_CELLS, &c1, sizeof c1);
      memcpy(to + 2 * QUANTIZED_DSP_CELLS, &c2, sizeof c2);
      memcpy(to + 3 * QUANTIZED_DSP_CELLS, &c3, sizeof c3);
      from += channels;
    }
    if (columns % 2 != 0) {
      for (int c = 0; c < 4; ++c) {
        to[c * QUANTIZED_DSP_CELLS] = (int16_t)(from[c] - dims->input_zero_point);
      }
    }
  }
}

/* The rows of results that QUANTIZED_DSP_CELLS has room for; 0: see quantized_micro_row. */
static int quantized_dsp_depthwise_rows(const conv_dims* d, int pitch) {
  const int lines = QUANTIZED_DSP_CELLS / pitch;
  const int is_taken = d->groups == d->c && d->k == d->c && d->c % 4 == 0 && d->dilation_h == 1 &&
                       d->dilation_w == 1 && d->pad_left >= 0 && d->pad_left < pitch &&
                       (d->stride_w == 1 || d->stride_w == 2) &&
                       d->r * (d->s / 2 + 1) * 2 <= QUANTIZED_DSP_PAIRS && d->r <= lines;
  return is_taken ? (lines - d->r) / d->stride_h + 1 : 0;
}

/* Rows [p, last) of the results of one depthwise image, from number `at` on. together: see
   quantized_dsp_depthwise_rows. */
static QUANTIZED_DSP_ALONE void quantized_dsp_planes_rows(const quantized_micro_out* out,
                                                          ptrdiff_t at, const int8_t* x, int rows,
                                                          const int8_t* w, const int32_t* bias,
                                                          const quantized_conv2d_dims* dims,
                                                          const quantized_factor* factors, int p,
                                                          int last, int pitch, int together) {
  const conv_dims* d = &dims->conv;
  const int channels = d->k;
  const ptrdiff_t row_results = (ptrdiff_t)d->q * channels;
  const int pairs = d->s / 2 + 1;
  quantized_dsp_planes planes;
  const int zero = out->result->zero_point;
  const int bytes = (int)sizeof *planes.of.cells;
  const int is_fast =
      quantized_dsp_is_even(out) && d->q % QUANTIZED_MICRO_PIXELS == 0 && pairs >= 2 &&
      pairs <= 4 &&
      (!out->bits || (channels % 8 == 0 && at % 8 == 0 && d->q <= QUANTIZED_DSP_HALVES));
  const int halves_rows = QUANTIZED_DSP_HALVES / d->q;
  quantized_dsp_rows_of of;
  planes.pitch = pitch;
  if (is_fast && out->bits && together > halves_rows) together = halves_rows;
  of.w = planes.pairs;
  of.w_end = planes.pairs + d->r * pairs * (3 - d->stride_w);
  of.step = channels;
  of.advance = (QUANTIZED_MICRO_PIXELS * d->stride_w - d->r * pitch) * bytes;
  of.row_cells = d->stride_h * pitch * bytes;
  of.row_jump = of.row_cells - d->q * d->stride_w * bytes;
  of.pitch = pitch * bytes;
  while (p < last) {
    const int next = last - p < together ? last : p + together;
    const int lines = (next - p - 1) * d->stride_h + d->r;
    const int first = p * d->stride_h - d->pad_top;
    for (int c = 0; c < 4; ++c) {
      quantized_dsp_clear(planes.of.cells + c * QUANTIZED_DSP_CELLS, lines * pitch);
    }
    for (int k = 0; k < channels; k += 4) {
      quantized_dsp_group group;
      int is_done = is_fast && quantized_dsp_takes_group(&group, bias ? bias + k : NULL,
                                                         factors + k, zero, d->r * d->s);
      quantized_dsp_gather(&planes, x, rows, dims, k, first, lines);
      for (int c = 0; c < 4; ++c) {
        const int16_t* const cells = planes.of.cells + c * QUANTIZED_DSP_CELLS;
        quantized_dsp_pairs(planes.pairs, w + (ptrdiff_t)(k + c) * d->r * d->s, d->r, d->s,
                            d->stride_w);
        if (is_done) {
          of.bias[0] = of.bias[1] = group.bias[c];
          of.scale = group.scale[c];
          of.offset = out->bits ? group.offset[c] : group.offset[c] - 128.0F;
          of.y = out->bits ? (void*)(planes.halves + c * QUANTIZED_DSP_HALVES)
                           : (void*)(out->y + at + k + c);
          of.x = cells;
          of.row_end = cells + d->q * d->stride_w;
          of.last = of.row_end + (next - p - 1) * d->stride_h * pitch;
          is_done = quantized_dsp_all_rows(&of, pairs, d->stride_w, d->r, out->bits != NULL);
        }
        if (!is_done) {
          const quantized_dsp_channel channel = {
              cells, planes.pairs, bias ? bias[k + c] : 0, next - p, d->r, pairs, pitch};
          quantized_dsp_depthwise(out, at + k + c, &channel, dims, &factors[k + c]);
        }
      }
      if (is_done && out->bits) {
        quantized_dsp_put_halves(out->y + at + k, out->bits + (at + k) / 8, 0x04080102U << (k & 4),
                                 planes.halves, (next - p) * d->q, channels);
      }
    }
    at += (next - p) * row_results;
    p = next;
  }
}

/* Rows [p, last) of the results of one image, from number `at` on. */
static void quantized_dsp_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                               int rows, const int8_t* w, const int32_t* bias,
                               const quantized_conv2d_dims* dims, const quantized_factor* factors,
                               int p, int last) {
  const conv_dims* d = &dims->conv;
  const int pairs = d->s / 2 + 1;
  const int covered =
      (d->q + QUANTIZED_MICRO_PIXELS - 1) / QUANTIZED_MICRO_PIXELS * QUANTIZED_MICRO_PIXELS;
  /* The last pair of the last window has a cell of its own. */
  const int pitch = ((covered - 1) * d->stride_w + 2 * pairs + 1) & ~1;
  const int together = quantized_dsp_depthwise_rows(d, pitch);
  if (quantized_dsp_is_pointwise(d) && rows >= d->h && last - p > 1) {
    quantized_conv2d_dims flat = *dims; /* one row */
    flat.conv.h = flat.conv.p = 1;
    flat.conv.w = flat.conv.q = (last - p) * d->w;
    quantized_micro_row(out, at, x + (ptrdiff_t)p * d->w * d->c, 1, w, bias, &flat, factors, 0);
    return;
  }
  if (together > 0) {
    quantized_dsp_planes_rows(out, at, x, rows, w, bias, dims, factors, p, last, pitch, together);
    return;
  }
  for (; p < last; ++p, at += (ptrdiff_t)d->q * d->k) {
    quantized_micro_row(out, at, x, rows, w, bias, dims, factors, p);
  }
}

#ifndef QUANTIZED_HELIUM /* depthwise_helium.h has its own */
/* In the place of the function of conv_micro.h. */
static void quantized_micro_rows(const quantized_micro_out* out, ptrdiff_t at, const int8_t* x,
                                 int rows, const int8_t* w, const int32_t* bias,
                                 const quantized_conv2d_dims* dims, const quantized_factor* factors,
                                 int p, int last) {
  quantized_dsp_rows(out, at, x, rows, w, bias, dims, factors, p, last);
}
#endif
