/* The gradients in inputs, weights and biases for microcontrollers, in the place of those of ref.h
   and with their results. Windows of one pixel are computed in tiles of two pixels by four
   channels, their weights in tiles of two output channels by four input channels, and input
   gradients of depthwise windows from a copy of a channel with zeros around it. Plain C99. */
#include "ops/error_int8/rounding.h"
#include "ops/int8_error_grad/parts.h"

/* A gradient that is taken twice, see int8_error_row. */
typedef struct int8_error_target {
  int8_t* y; /* null: its largest size is looked for */
  real unit;
  const int8_t* waiting; /* or null */
  const real* waiting_unit;
} int8_error_target;

/* Sums of a strip of pixels, which become gradients. */
typedef union int8_error_strip_sums {
  int32_t sums[INT8_ERROR_STRIP * INT8_ERROR_CHUNK];
  real v[INT8_ERROR_STRIP * INT8_ERROR_CHUNK];
} int8_error_strip_sums;

/* What tiles read and int8_error_widen writes: words of two numbers, aligned to four bytes. */
typedef union int8_error_strip_cells {
  int16_t cells[INT8_ERROR_STRIP * INT8_ERROR_DEPTH];
  int32_t aligned;
} int8_error_strip_cells;
typedef union int8_error_tile_cells {
  int16_t cells[4 * INT8_ERROR_DEPTH];
  int32_t aligned;
} int8_error_tile_cells;

#ifndef INT8_ERROR_OWN_TILES /* cortex_m_dsp.h has its own */
/* sums[i,c] += the sum over pairs of channels k of e[i,k] w[k,c], for two pixels and four channels.
   e: [pairs, pixels, 2], w: [pairs, channels, 2], both aligned to four bytes, sums: rows of
   INT8_ERROR_CHUNK. They wrap. */
static void int8_error_tile(int32_t* sums, const int16_t* e, const int16_t* w, int pairs) {
  for (int i = 0; i < 2; ++i, e += 2, sums += INT8_ERROR_CHUNK) {
    const int16_t* from = w;
    uint32_t a0 = (uint32_t)sums[0], a1 = (uint32_t)sums[1];
    uint32_t a2 = (uint32_t)sums[2], a3 = (uint32_t)sums[3];
    for (int pair = 0; pair < pairs; ++pair, from += 8) {
      const int32_t even = e[4 * pair], odd = e[4 * pair + 1];
      a0 += (uint32_t)(even * from[0]) + (uint32_t)(odd * from[1]);
      a1 += (uint32_t)(even * from[2]) + (uint32_t)(odd * from[3]);
      a2 += (uint32_t)(even * from[4]) + (uint32_t)(odd * from[5]);
      a3 += (uint32_t)(even * from[6]) + (uint32_t)(odd * from[7]);
    }
    sums[0] = (int32_t)a0;
    sums[1] = (int32_t)a1;
    sums[2] = (int32_t)a2;
    sums[3] = (int32_t)a3;
  }
}

/* The weights of four channels c for an even number of channels k. to: [n/2, 4, 2], aligned to four
   bytes, w: the first, step: from a k to the next. */
static void int8_error_widen(int16_t* to, const int8_t* w, int step, int n) {
  for (; n > 0; n -= 2, to += 8, w += 2 * (ptrdiff_t)step) {
    for (int c = 0; c < 4; ++c) {
      to[2 * c] = w[c];
      to[2 * c + 1] = w[step + c];
    }
  }
}
#endif

/* An error times its factor, 0 where `passes` is 0. */
static int32_t int8_error_folded_one(int32_t e, int32_t multiplier, uint32_t passes) {
  const int32_t v = (e * multiplier + (1 << (INT8_ERROR_SHIFT - 1))) >> INT8_ERROR_SHIFT;
  return v & -(int32_t)(passes & 1);
}

/* Errors of a pixel times factors, of n channels from `at` on, with 0 up to `padded`, an even
   number. to: pairs of channels; the pair after each is that of a tile's other pixel. */
static void int8_error_fold(int16_t* to, const int8_error_source* from, ptrdiff_t at,
                            const int16_t* multipliers, int n, int padded) {
  const int8_t* e = from->e + at;
  const uint8_t* const bits = from->bits == 0 ? 0 : from->bits + at / 8;
  int i = 0;
  if (at % 8 == 0) {
    for (; i + 8 <= n; i += 8, e += 8, multipliers += 8, to += 16) {
      const uint32_t byte = bits == 0 ? 255 : bits[i / 8];
      to[0] = (int16_t)int8_error_folded_one(e[0], multipliers[0], byte);
      to[1] = (int16_t)int8_error_folded_one(e[1], multipliers[1], byte >> 1);
      to[4] = (int16_t)int8_error_folded_one(e[2], multipliers[2], byte >> 2);
      to[5] = (int16_t)int8_error_folded_one(e[3], multipliers[3], byte >> 3);
      to[8] = (int16_t)int8_error_folded_one(e[4], multipliers[4], byte >> 4);
      to[9] = (int16_t)int8_error_folded_one(e[5], multipliers[5], byte >> 5);
      to[12] = (int16_t)int8_error_folded_one(e[6], multipliers[6], byte >> 6);
      to[13] = (int16_t)int8_error_folded_one(e[7], multipliers[7], byte >> 7);
    }
  }
  for (; i < padded; i += 2, to += 4) {
    for (int j = 0; j < 2; ++j) {
      const ptrdiff_t bit = at + i + j;
      to[j] = 0;
      if (i + j >= n) continue;
      to[j] = (int16_t)int8_error_folded_one(
          *e++, *multipliers++, from->bits == 0 ? 1U : (uint32_t)from->bits[bit / 8] >> (bit % 8));
    }
  }
}

/* What the sizes of the errors of a pixel times factors add up to at most. */
static uint32_t int8_error_sizes(const int16_t* from, int n) {
  uint32_t total = 0;
  for (int i = 0; i < n; i += 2, from += 4) {
    total += (uint32_t)(from[0] < 0 ? -from[0] : from[0]);
    total += (uint32_t)(from[1] < 0 ? -from[1] : from[1]);
  }
  return total;
}

/* Takes n gradients, of the elements from `at` on. */
static real int8_error_take(const int8_error_target* to, real most, real* v, ptrdiff_t at, int n) {
  int8_error_add(v, to->waiting == 0 ? 0 : to->waiting + at, to->waiting_unit, n);
  if (to->y == 0) return error_int8_most(most, v, n);
  error_int8_round(to->y + at, v, to->unit, n);
  return most;
}

/* Channels c to c + count, all of one strip of pixels. */
static real int8_error_strip_of_pixels(const int8_error_target* to, real most,
                                       const int8_error_source* from, const int8_t* w,
                                       const conv_dims* d, int first, int pixels, int c,
                                       int count) {
  const real unit = int8_error_folded_unit(from->unit, from->most);
  int8_error_strip_sums all;
  int8_error_strip_cells errors;
  int8_error_tile_cells weights;
  int16_t multipliers[INT8_ERROR_DEPTH];
  uint32_t sizes[INT8_ERROR_STRIP] = {0};
  const int tiled = count & ~3;
  memset(all.sums, 0, sizeof all.sums);
  memset(errors.cells, 0, sizeof errors.cells);
  for (int k = 0; k < d->k; k += INT8_ERROR_DEPTH) {
    const int n = d->k - k < INT8_ERROR_DEPTH ? d->k - k : INT8_ERROR_DEPTH;
    const int padded = (n + INT8_ERROR_ROUND - 1) / INT8_ERROR_ROUND * INT8_ERROR_ROUND;
    const int8_t* const rows = w + (ptrdiff_t)k * d->c + c;
    int8_error_multipliers(multipliers, from->factors + (ptrdiff_t)k * from->factor_step,
                           from->factor_step, from->most, n);
    for (int i = 0; i < pixels; ++i) {
      const ptrdiff_t at = (ptrdiff_t)(first + i) * d->k + k;
      int16_t* const pair = errors.cells + (i & ~1) * INT8_ERROR_DEPTH + (i & 1) * 2;
      int8_error_fold(pair, from, at, multipliers, n, padded);
      if (d->k > INT8_ERROR_PRODUCTS) sizes[i] += int8_error_sizes(pair, padded);
    }
    for (int i = 0; i < tiled; i += 4) {
      int8_error_widen(weights.cells, rows + i, d->c, n & ~1);
      memset(weights.cells + 4 * (n & ~1), 0,
             sizeof *weights.cells * (size_t)(4 * (padded - (n & ~1))));
      if ((n & 1) != 0) {
        for (int j = 0; j < 4; ++j)
          weights.cells[4 * (n - 1) + 2 * j] = rows[(n - 1) * d->c + i + j];
      }
      for (int p = 0; p < pixels; p += 2) {
        int8_error_tile(all.sums + p * INT8_ERROR_CHUNK + i, errors.cells + p * INT8_ERROR_DEPTH,
                        weights.cells, padded / 2);
      }
    }
    for (int i = tiled; i < count; ++i) {
      for (int p = 0; p < pixels; ++p) {
        const int16_t* const e = errors.cells + (p & ~1) * INT8_ERROR_DEPTH + (p & 1) * 2;
        uint32_t sum = (uint32_t)all.sums[p * INT8_ERROR_CHUNK + i];
        for (int j = 0; j < n; ++j) {
          sum += (uint32_t)(e[(j & ~1) * 2 + (j & 1)] * rows[(ptrdiff_t)j * d->c + i]);
        }
        all.sums[p * INT8_ERROR_CHUNK + i] = (int32_t)sum;
      }
    }
  }
  for (int i = 0; i < pixels; ++i) {
    real* const v = all.v + i * INT8_ERROR_CHUNK;
    if (sizes[i] < 1U << 24) { /* times 128 fits int32 */
      for (int j = 0; j < count; ++j) v[j] = (real)all.sums[i * INT8_ERROR_CHUNK + j] * unit;
    } else {
      int8_error_pixel(v, from, w, d, 0, 0, first + i, c, count);
    }
    most = int8_error_take(to, most, v, (ptrdiff_t)(first + i) * d->c + c, count);
  }
  return most;
}

/* Windows of one pixel; d: all pixels are one row. */
static real int8_error_pixels(const int8_error_target* to, const int8_error_source* from,
                              const int8_t* w, const conv_dims* d) {
  real most = 0;
  for (int first = 0; first < d->w; first += INT8_ERROR_STRIP) {
    const int pixels = d->w - first < INT8_ERROR_STRIP ? d->w - first : INT8_ERROR_STRIP;
    for (int c = 0; c < d->c; c += INT8_ERROR_CHUNK) {
      const int count = d->c - c < INT8_ERROR_CHUNK ? d->c - c : INT8_ERROR_CHUNK;
      most = int8_error_strip_of_pixels(to, most, from, w, d, first, pixels, c, count);
    }
  }
  return most;
}

#ifndef INT8_ERROR_OWN_TILES
#define INT8_ERROR_TAP(tap, x0, x1, x2, x3) \
  {                                         \
    const int32_t t_ = tap;                 \
    a0 += x0 * t_;                          \
    a1 += x1 * t_;                          \
    a2 += x2 * t_;                          \
    a3 += x3 * t_;                          \
  }

/* Four results side by side. x: the first row of their windows, taps: of all, the last one first.
 */
static void int8_error_four(int32_t* to, const int16_t* x, int pitch, const int16_t* taps, int r,
                            int s) {
  int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  for (; r > 0; --r, x += pitch, taps += int8_error_tap_step(s)) {
    int32_t x0 = x[0], x1 = x[1], x2 = x[2];
    for (int i = 0; i < s; ++i) {
      const int32_t x3 = x[i + 3];
      INT8_ERROR_TAP(taps[i], x0, x1, x2, x3)
      x0 = x1;
      x1 = x2;
      x2 = x3;
    }
  }
  to[0] = a0;
  to[1] = a1;
  to[2] = a2;
  to[3] = a3;
}
#endif

/* Depthwise windows, a channel at a time. */
static real int8_error_planes(const int8_error_target* to, const int8_error_source* from,
                              const int8_t* w, const conv_dims* d) {
  int16_t plane[INT8_ERROR_PLANE + 2]; /* and what pairs of taps reach */
  int16_t taps[INT8_ERROR_TAPS];
  const int pitch = int8_error_pitch(d);
  const int tap_step = int8_error_tap_step(d->s);
  const int channels = d->c;
  int16_t* const image = plane + (d->r - 1 - d->pad_top) * pitch + d->s - 1 - d->pad_left;
  real most = 0;
  memset(plane, 0, sizeof plane);
  memset(taps, 0, sizeof taps);
  for (int c = 0; c < channels; ++c) {
    const real unit = from->unit * from->factors[(ptrdiff_t)c * from->factor_step];
    for (int r = 0; r < d->r; ++r) {
      const int8_t* const row = w + ((ptrdiff_t)c * d->r + d->r - 1 - r) * d->s;
      int16_t* const reversed = taps + r * tap_step;
      for (int t = 0; t < d->s; ++t) reversed[d->s - 1 - t] = row[t];
    }
    for (int n = 0; n < d->n; ++n) {
      ptrdiff_t at = (ptrdiff_t)n * d->p * d->q * channels + c;
      for (int p = 0; p < d->p; ++p) {
        int16_t* cell = image + p * d->stride_h * pitch;
        for (int q = 0; q < d->q; ++q, at += channels, cell += d->stride_w) {
          const int passes = from->bits == 0 || (from->bits[at / 8] >> (at % 8) & 1) != 0;
          *cell = (int16_t)(passes ? from->e[at] : 0);
        }
      }
      at = (ptrdiff_t)n * d->h * d->w * channels + c;
      for (int h = 0; h < d->h; ++h) {
        for (int column = 0; column < d->w; column += 4) {
          const int count_of_four = d->w - column < 4 ? d->w - column : 4;
          int32_t four[4];
          real v[4];
          int8_error_four(four, plane + h * pitch + column, pitch, taps, d->r, d->s);
          for (int i = 0; i < 4; ++i) v[i] = (real)four[i] * unit;
          if (to->waiting != 0) {
            const int8_t* const waiting = to->waiting + at;
            for (int i = 0; i < count_of_four; ++i) {
              v[i] = (real)waiting[(ptrdiff_t)i * channels] * *to->waiting_unit + v[i];
            }
          }
          if (to->y == 0) {
            most = error_int8_most(most, v, count_of_four);
            at += (ptrdiff_t)count_of_four * channels;
          } else {
            int8_t y[4];
            error_int8_round(y, v, to->unit, count_of_four);
            for (int i = 0; i < count_of_four; ++i, at += channels) to->y[at] = y[i];
          }
        }
      }
    }
  }
  return most;
}

static real int8_error_gradients(const int8_error_target* to, const int8_error_source* from,
                                 const int8_t* w, const conv_dims* d) {
  real most = 0;
  if (int8_error_is_pixel(d)) {
    conv_dims flat = *d;
    flat.w = flat.q = d->n * d->h * d->w;
    flat.n = flat.h = flat.p = 1;
    return int8_error_pixels(to, from, w, &flat);
  }
  if (int8_error_has_plane(d)) return int8_error_planes(to, from, w, d);
  for (int row = 0; row < d->n * d->h; ++row) {
    most = int8_error_row(to->y, most, to->unit, from, w, to->waiting, to->waiting_unit, d, row);
  }
  return most;
}

static void int8_error_input_grad_ref(int8_t* dx, real* dx_scale, const int8_t* e,
                                      const real* scale, const real* factors, const int8_t* w,
                                      const uint8_t* bits, const int8_t* waiting,
                                      const real* waiting_scale, const int8_error_conv_dims* d) {
  const int8_error_source from =
      int8_error_from(e, scale, factors, bits, d->factor_step, d->conv.k);
  int8_error_target to = {0, 0, waiting, waiting_scale};
  const real most = int8_error_gradients(&to, &from, w, &d->conv);
  to.y = dx;
  to.unit = most / 127;
  int8_error_gradients(&to, &from, w, &d->conv);
  *dx_scale = to.unit;
}

/* Errors of two pixels side by side, of the channels k to k + count, in the way of int8_error_fold;
   adds what they sum up to. */
static void int8_error_pair(int16_t* to, int32_t* totals, const int8_error_source* from,
                            ptrdiff_t at, int step, int pixels, int count) {
  for (int pixel = 0; pixel < 2; ++pixel, at += step) {
    for (int i = 0; i < count; ++i) {
      const int passes = pixel < pixels &&
                         (from->bits == 0 || (from->bits[(at + i) / 8] >> ((at + i) % 8) & 1) != 0);
      const int32_t v = passes ? from->e[at + i] : 0;
      to[(i & ~1) * INT8_ERROR_DEPTH + (i & 1) * 2 + pixel] = (int16_t)v;
      totals[i] += v;
    }
  }
}

/* dw of some channels k and c of a layer of windows of one pixel, of which there are at most
   INT8_ERROR_ROWS. */
static void int8_error_weights_of(real* dw, const int8_t* x, const int8_error_source* from,
                                  const int8_error_conv_dims* dims, int k, int rows, int c,
                                  int count) {
  const conv_dims* const d = &dims->conv;
  const int pixels = d->n * d->h * d->w;
  int32_t sums[INT8_ERROR_STRIP * INT8_ERROR_CHUNK];
  int8_error_strip_cells errors;
  int8_error_tile_cells numbers;
  int32_t totals[INT8_ERROR_STRIP] = {0};
  memset(sums, 0, sizeof sums);
  memset(errors.cells, 0, sizeof errors.cells);
  for (int first = 0; first < pixels; first += INT8_ERROR_DEPTH) {
    const int n = pixels - first < INT8_ERROR_DEPTH ? pixels - first : INT8_ERROR_DEPTH;
    const int padded = (n + INT8_ERROR_ROUND - 1) / INT8_ERROR_ROUND * INT8_ERROR_ROUND;
    const int8_t* const image = x + (ptrdiff_t)first * d->c + c;
    for (int i = 0; i < padded; i += 2) {
      int8_error_pair(errors.cells + 2 * i, totals, from, (ptrdiff_t)(first + i) * d->k + k, d->k,
                      n - i, rows);
    }
    for (int i = 0; i < count; i += 4) {
      int8_error_widen(numbers.cells, image + i, d->c, n & ~1);
      memset(numbers.cells + 4 * (n & ~1), 0,
             sizeof *numbers.cells * (size_t)(4 * (padded - (n & ~1))));
      if ((n & 1) != 0) {
        for (int j = 0; j < 4; ++j) {
          numbers.cells[4 * (n - 1) + 2 * j] = image[(ptrdiff_t)(n - 1) * d->c + i + j];
        }
      }
      for (int j = 0; j < rows; j += 2) {
        int8_error_tile(sums + j * INT8_ERROR_CHUNK + i, errors.cells + j * INT8_ERROR_DEPTH,
                        numbers.cells, padded / 2);
      }
    }
  }
  for (int j = 0; j < rows; ++j) {
    const real unit = from->unit * from->factors[(ptrdiff_t)(k + j) * from->factor_step];
    const uint32_t less = (uint32_t)totals[j] * (uint32_t)dims->zero_point;
    for (int i = 0; i < count; ++i) {
      const uint32_t sum = (uint32_t)sums[j * INT8_ERROR_CHUNK + i] - less;
      dw[(ptrdiff_t)(k + j) * d->c + c + i] = (real)(int32_t)sum * unit;
    }
  }
}

static void int8_error_weight_grad_ref(real* dw, const int8_t* x, const int8_t* e,
                                       const real* scale, const real* factors, const uint8_t* bits,
                                       const int8_error_conv_dims* d) {
  const int8_error_source from = int8_error_from(e, scale, factors, bits, d->factor_step, 0);
  const int pixels = d->conv.n * d->conv.h * d->conv.w;
  if (!int8_error_is_pixel(&d->conv) || d->conv.c % 4 != 0 || pixels > INT8_ERROR_ROWS) {
    int8_error_weights(dw, x, &from, d, 0, d->conv.k);
    return;
  }
  for (int k = 0; k < d->conv.k; k += INT8_ERROR_STRIP) {
    const int rows = d->conv.k - k < INT8_ERROR_STRIP ? d->conv.k - k : INT8_ERROR_STRIP;
    for (int c = 0; c < d->conv.c; c += INT8_ERROR_CHUNK) {
      const int count = d->conv.c - c < INT8_ERROR_CHUNK ? d->conv.c - c : INT8_ERROR_CHUNK;
      int8_error_weights_of(dw, x, &from, d, k, rows, c, count);
    }
  }
}

static void int8_error_bias_grad_ref(real* dbias, const int8_t* e, const real* scale,
                                     const real* factors, const uint8_t* bits,
                                     const int8_error_dims* d) {
  int32_t block[INT8_ERROR_CHUNK];
  for (int c = 0, count = 0; c < d->channels; c += count) {
    int64_t whole = 0;
    count = d->channels - c < INT8_ERROR_CHUNK ? d->channels - c : INT8_ERROR_CHUNK;
    if (d->rows > (1 << 24)) count = 1; /* a sum at a time, which int32 may not hold */
    for (int i = 0; i < count; ++i) block[i] = 0;
    for (int row = 0; row < d->rows; ++row) {
      const ptrdiff_t at = (ptrdiff_t)row * d->channels + c;
      const int8_t* const numbers = e + at;
      if (bits == 0) {
        for (int i = 0; i < count; ++i) block[i] += numbers[i];
      } else {
        int i = 0;
        if (at % 8 == 0) {
          const uint8_t* byte = bits + at / 8;
          for (; i + 8 <= count; i += 8, ++byte) {
            int32_t* const sums = block + i;
            const int8_t* const from = numbers + i;
            const uint32_t all = *byte;
            if (all & 1) sums[0] += from[0];
            if (all & 2) sums[1] += from[1];
            if (all & 4) sums[2] += from[2];
            if (all & 8) sums[3] += from[3];
            if (all & 16) sums[4] += from[4];
            if (all & 32) sums[5] += from[5];
            if (all & 64) sums[6] += from[6];
            if (all & 128) sums[7] += from[7];
          }
        }
        for (; i < count; ++i) {
          if ((bits[(at + i) / 8] >> ((at + i) % 8) & 1) != 0) block[i] += numbers[i];
        }
      }
      if (row % INT8_ERROR_ROWS == INT8_ERROR_ROWS - 1 && count == 1) {
        whole += block[0];
        block[0] = 0;
      }
    }
    for (int i = 0; i < count; ++i) {
      dbias[c + i] =
          (real)(whole + block[i]) * (*scale * factors[(ptrdiff_t)(c + i) * d->factor_step]);
    }
  }
}
