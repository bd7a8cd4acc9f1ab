/* Parts of the micro.h of quantized_conv2d_input_grad in instructions of Helium, for the target
   helium: four channels, or four columns, in a vector. Results are the same. */
#include "ops/families/quantized/floats_helium.h"
#define QUANTIZED_HELIUM_TILES
#include "ops/quantized_conv2d_input_grad/micro.h"

/* Two and three channels of dy of one pixel: weights in q4 and so on. */
#define QUANTIZED_HELIUM_TWO_OF(y, sum) \
  "ldrd r4, r5, [" y                    \
  "], #8\n"                             \
  "vmul.f32 q6, q4, r4\n"               \
  "vmul.f32 q7, q5, r5\n"               \
  "vadd.f32 " sum ", " sum              \
  ", q6\n"                              \
  "vadd.f32 " sum ", " sum ", q7\n"
#define QUANTIZED_HELIUM_THREE_OF(y, sum) \
  "ldm " y                                \
  "!, {r4, r5, r6}\n"                     \
  "vmul.f32 q7, q4, r4\n"                 \
  "vadd.f32 " sum ", " sum                \
  ", q7\n"                                \
  "vmul.f32 q7, q5, r5\n"                 \
  "vadd.f32 " sum ", " sum                \
  ", q7\n"                                \
  "vmul.f32 q7, q6, r6\n"                 \
  "vadd.f32 " sum ", " sum ", q7\n"

/* dx[i,c] = from[i,c] + the sum over n channels k, two or more, of dy[i,k] w[k,c], for four pixels
   and four channels; w: [n,4]. from_step: from a pixel of `from` to the next. */
static QUANTIZED_HELIUM_ALONE void quantized_helium_grad_tile(real* dx, const real* from,
                                                              int from_step, const real* dy,
                                                              const real* w, int channels,
                                                              int from_channels, int n) {
  const real* y1 = dy + from_channels;
  const real* y2 = y1 + from_channels;
  const real* y3 = y2 + from_channels;
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  /* Few registers are left for these. */
  const int threes = n % 3 == 1 ? n / 3 - 1 : n / 3;
  const uintptr_t more[4] = {(uintptr_t)threes, (uintptr_t)(n - 3 * threes) / 2, (uintptr_t)dx,
                             (uintptr_t)channels * sizeof *dx};
  __asm__ volatile(
      "vldrw.32 q0, [%[from]]\n"
      "add %[from], %[from], %[step]\n"
      "vldrw.32 q1, [%[from]]\n"
      "add %[from], %[from], %[step]\n"
      "vldrw.32 q2, [%[from]]\n"
      "add %[from], %[from], %[step]\n"
      "vldrw.32 q3, [%[from]]\n"
      "ldr r4, [%[more]]\n"
      "wls lr, r4, 2f\n"
      "1:\n"
      "vldrw.32 q4, [%[w]], #16\n"
      "vldrw.32 q5, [%[w]], #16\n"
      "vldrw.32 q6, [%[w]], #16\n"  // clang-format off
      QUANTIZED_HELIUM_THREE_OF("%[y0]", "q0") QUANTIZED_HELIUM_THREE_OF("%[y1]", "q1")
      QUANTIZED_HELIUM_THREE_OF("%[y2]", "q2") QUANTIZED_HELIUM_THREE_OF("%[y3]", "q3")
      "le lr, 1b\n"
      "2:\n"
      "ldr r4, [%[more], #4]\n"
      "wls lr, r4, 4f\n"
      "3:\n"
      "vldrw.32 q4, [%[w]], #16\n"
      "vldrw.32 q5, [%[w]], #16\n"
      QUANTIZED_HELIUM_TWO_OF("%[y0]", "q0") QUANTIZED_HELIUM_TWO_OF("%[y1]", "q1")
      QUANTIZED_HELIUM_TWO_OF("%[y2]", "q2") QUANTIZED_HELIUM_TWO_OF("%[y3]", "q3")
      "le lr, 3b\n"  // clang-format on
      "4:\n"
      "ldrd r4, r5, [%[more], #8]\n"
      "vstrw.32 q0, [r4]\n"
      "add r4, r4, r5\n"
      "vstrw.32 q1, [r4]\n"
      "add r4, r4, r5\n"
      "vstrw.32 q2, [r4]\n"
      "add r4, r4, r5\n"
      "vstrw.32 q3, [r4]\n"
      : [w] "+r"(w), [y0] "+r"(dy), [y1] "+r"(y1), [y2] "+r"(y2), [y3] "+r"(y3), [from] "+r"(from)
      : [step] "r"((size_t)from_step * sizeof *from), [more] "r"(more)
      : "lr", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
  for (int i = 0; i < 4; ++i, dx += channels, from += from_step) {
    const real* const y = i == 0 ? dy : i == 1 ? y1 : i == 2 ? y2 : y3;
    for (int c = 0; c < 4; ++c) {
      real sum = from[c];
      for (int k = 0; k < n; ++k) sum += y[k] * w[4 * k + c];
      dx[c] = sum;
    }
  }
#endif
}

/* Sums that are taken together, and channels of dy at once, where dy has many zeros. */
#define QUANTIZED_HELIUM_WIDE 24
#define QUANTIZED_HELIUM_DEPTH 48

/* One number of dy, whose weights stand from number 24j on: w0 to w5 are their bytes behind w. */
#define QUANTIZED_HELIUM_WIDE_OF(y, w0, w1, w2, w3, w4, w5)               \
  "cbz " y                                                                \
  ", 2f\n"                                                                \
  "vldrw.32 q6, [%[w], #" w0                                              \
  "]\n"                                                                   \
  "vmul.f32 q6, q6, " y "\nvldrw.32 q7, [%[w], #" w1                      \
  "]\n"                                                                   \
  "vadd.f32 q0, q0, q6\nvmul.f32 q7, q7, " y "\nvldrw.32 q6, [%[w], #" w2 \
  "]\n"                                                                   \
  "vadd.f32 q1, q1, q7\nvmul.f32 q6, q6, " y "\nvldrw.32 q7, [%[w], #" w3 \
  "]\n"                                                                   \
  "vadd.f32 q2, q2, q6\nvmul.f32 q7, q7, " y "\nvldrw.32 q6, [%[w], #" w4 \
  "]\n"                                                                   \
  "vadd.f32 q3, q3, q7\nvmul.f32 q6, q6, " y "\nvldrw.32 q7, [%[w], #" w5 \
  "]\n"                                                                   \
  "vadd.f32 q4, q4, q6\nvmul.f32 q7, q7, " y                              \
  "\nvadd.f32 q5, q5, q7\n"                                               \
  "2:\n"

/* to[c] = from[c] + the sum over n numbers k of y[k] w[k,c], for 24 c; w: [n,24], n: a multiple of
   four. What is 0 in y is left out. */
static QUANTIZED_HELIUM_ALONE void quantized_helium_wide(real* to, const real* from, const real* y,
                                                         const real* w, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "vldrw.32 q0, [%[from]]\n"
      "vldrw.32 q1, [%[from], #16]\n"
      "vldrw.32 q2, [%[from], #32]\n"
      "vldrw.32 q3, [%[from], #48]\n"
      "vldrw.32 q4, [%[from], #64]\n"
      "vldrw.32 q5, [%[from], #80]\n"
      "dls lr, %[fours]\n"
      "1:\n"
      "ldm %[y]!, {r3, r4, r5, r6}\n"  // clang-format off
      QUANTIZED_HELIUM_WIDE_OF("r3", "0", "16", "32", "48", "64", "80")
      QUANTIZED_HELIUM_WIDE_OF("r4", "96", "112", "128", "144", "160", "176")
      QUANTIZED_HELIUM_WIDE_OF("r5", "192", "208", "224", "240", "256", "272")
      QUANTIZED_HELIUM_WIDE_OF("r6", "288", "304", "320", "336", "352", "368")  // clang-format on
      "add %[w], %[w], #384\n"
      "le lr, 1b\n"
      "vstrw.32 q0, [%[to]]\n"
      "vstrw.32 q1, [%[to], #16]\n"
      "vstrw.32 q2, [%[to], #32]\n"
      "vstrw.32 q3, [%[to], #48]\n"
      "vstrw.32 q4, [%[to], #64]\n"
      "vstrw.32 q5, [%[to], #80]\n"
      : [y] "+r"(y), [w] "+r"(w)
      : [to] "r"(to), [from] "r"(from), [fours] "r"(n / 4)
      : "lr", "r3", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc",
        "memory");
#else
  real sums[QUANTIZED_HELIUM_WIDE];
  for (int c = 0; c < QUANTIZED_HELIUM_WIDE; ++c) sums[c] = from[c];
  for (const real* const end = y + n; y != end; ++y, w += QUANTIZED_HELIUM_WIDE) {
    if (*y == 0) continue;
    for (int c = 0; c < QUANTIZED_HELIUM_WIDE; ++c) sums[c] += *y * w[c];
  }
  for (int c = 0; c < QUANTIZED_HELIUM_WIDE; ++c) to[c] = sums[c];
#endif
}

/* to[24k + c] = from[step k + c], for k below n and 24 c; n: not 0. */
static void quantized_helium_wide_floats(real* to, const int8_t* from, int step, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "dls lr, %[n]\n"
      "1:\n"
      "vldrb.s32 q0, [%[from]]\n"
      "vldrb.s32 q1, [%[from], #4]\n"
      "vldrb.s32 q2, [%[from], #8]\n"
      "vcvt.f32.s32 q0, q0\n"
      "vldrb.s32 q3, [%[from], #12]\n"
      "vcvt.f32.s32 q1, q1\n"
      "vldrb.s32 q4, [%[from], #16]\n"
      "vcvt.f32.s32 q2, q2\n"
      "vldrb.s32 q5, [%[from], #20]\n"
      "vcvt.f32.s32 q3, q3\n"
      "vstrw.32 q0, [%[to]], #16\n"
      "vcvt.f32.s32 q4, q4\n"
      "vstrw.32 q1, [%[to]], #16\n"
      "vcvt.f32.s32 q5, q5\n"
      "vstrw.32 q2, [%[to]], #16\n"
      "vstrw.32 q3, [%[to]], #16\n"
      "vstrw.32 q4, [%[to]], #16\n"
      "vstrw.32 q5, [%[to]], #16\n"
      "add %[from], %[from], %[step]\n"
      "le lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [n] "r"(n), [step] "r"(step)
      : "lr", "q0", "q1", "q2", "q3", "q4", "q5", "cc", "memory");
#else
  for (; n > 0; --n, from += step) {
    for (int c = 0; c < QUANTIZED_HELIUM_WIDE; ++c) *to++ = (real)from[c];
  }
#endif
}

/* Channels [0, some) of all pixels, where many numbers of dy are 0. some: a multiple of 24,
   from_channels: of four. */
static QUANTIZED_HELIUM_ALONE void quantized_helium_grad_sparse(real* dx, const real* dy,
                                                                const int8_t* w, int pixels,
                                                                int channels, int from_channels,
                                                                int some) {
  const real none[QUANTIZED_HELIUM_WIDE] = {0};
  real floats[QUANTIZED_HELIUM_WIDE * QUANTIZED_HELIUM_DEPTH];
  for (int c = 0; c < some; c += QUANTIZED_HELIUM_WIDE) {
    for (int first = 0; first < from_channels; first += QUANTIZED_HELIUM_DEPTH) {
      const int rest = from_channels - first;
      const int n = rest < QUANTIZED_HELIUM_DEPTH ? rest : QUANTIZED_HELIUM_DEPTH;
      const real* y = dy + first;
      real* to = dx + c;
      quantized_helium_wide_floats(floats, w + (ptrdiff_t)first * channels + c, channels, n);
      for (int i = 0; i < pixels; ++i, to += channels, y += from_channels) {
        quantized_helium_wide(to, first > 0 ? to : none, y, floats, n);
      }
    }
  }
}

/* Channels of dy whose weights are converted at once: an even number. */
#define QUANTIZED_HELIUM_FROM 192

/* Channels [some, channels & ~3) of all pixels but the last ones, in tiles. */
static QUANTIZED_HELIUM_ALONE void quantized_helium_grad_tiles(real* dx, const real* dy,
                                                               const int8_t* w, int tiled_pixels,
                                                               int channels, int from_channels,
                                                               int some) {
  const real none[4] = {0, 0, 0, 0};
  real floats[4 * QUANTIZED_HELIUM_FROM];
  for (int c = some; c < (channels & ~3); c += 4) {
    for (int first = 0; first < from_channels; first += QUANTIZED_HELIUM_FROM) {
      const int rest = from_channels - first;
      const int n = rest < QUANTIZED_HELIUM_FROM ? rest : QUANTIZED_HELIUM_FROM;
      quantized_helium_floats(floats, w + (ptrdiff_t)first * channels + c, channels, 0, n);
      for (int i = 0; i < tiled_pixels; i += 4) {
        real* const to = dx + (ptrdiff_t)i * channels + c;
        quantized_helium_grad_tile(to, first > 0 ? to : none, first > 0 ? channels : 0,
                                   dy + (ptrdiff_t)i * from_channels + first, floats, channels,
                                   from_channels, n);
      }
    }
  }
}

/* In the place of the function of micro.h. */
static void quantized_input_grad_pointwise(real* dx, const real* dy, const int8_t* w, int pixels,
                                           int channels, int from_channels) {
  const int tiled_pixels = pixels & ~3;
  const int tiled = channels & ~3;
  int some = 0; /* channels that are sparse */
  if (tiled_pixels * tiled == 0 || from_channels % 2 != 0 || from_channels == 0 ||
      !quantized_helium_is_exact(dy, pixels * from_channels)) {
    quantized_input_grad_plain_pointwise(dx, dy, w, pixels, channels, from_channels);
    return;
  }
  if (from_channels % 4 == 0 && quantized_micro_is_sparse(dy, pixels * from_channels)) {
    some = channels / QUANTIZED_HELIUM_WIDE * QUANTIZED_HELIUM_WIDE;
    quantized_helium_grad_sparse(dx, dy, w, pixels, channels, from_channels, some);
  }
  quantized_helium_grad_tiles(dx, dy, w, tiled_pixels, channels, from_channels, some);
  for (int i = 0; i < pixels; ++i, dx += channels, dy += from_channels) {
    for (int c = i < tiled_pixels ? tiled : some; c < channels; ++c) {
      dx[c] = quantized_input_grad_one(dy, w + c, channels, from_channels);
    }
  }
}

/* dx[c] += pixel[c] tap[taps c]. */
static void quantized_helium_grad_tap(real* dx, const real* pixel, const int8_t* tap, int taps,
                                      int channels) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "mov r4, #0\n"
      "vidup.u32 q0, r4, #1\n"
      "vmul.i32 q0, q0, %[taps]\n"
      "dlstp.32 lr, %[n]\n"
      "1:\n"
      "vldrb.s32 q1, [%[tap], q0]\n"
      "add %[tap], %[tap], %[four]\n"
      "vldrw.32 q2, [%[pixel]], #16\n"
      "vcvt.f32.s32 q1, q1\n"
      "vldrw.32 q3, [%[dx]]\n"
      "vmul.f32 q1, q1, q2\n"
      "vadd.f32 q3, q3, q1\n"
      "vstrw.32 q3, [%[dx]], #16\n"
      "letp lr, 1b\n"
      : [dx] "+r"(dx), [pixel] "+r"(pixel), [tap] "+r"(tap)
      : [taps] "r"(taps), [four] "r"(4 * taps), [n] "r"(channels)
      : "lr", "r4", "q0", "q1", "q2", "q3", "cc", "memory");
#else
  for (int c = 0; c < channels; ++c) dx[c] += pixel[c] * (real)tap[c * taps];
#endif
}

/* In the place of the function of micro.h: any window and stride. */
static int quantized_input_grad_depthwise(real* dx, const real* dy, const int8_t* w,
                                          const conv2d_input_grad_dims* d) {
  const int numbers = d->n * d->p * d->q * d->k;
  if (numbers == 0 || !quantized_helium_is_exact(dy, numbers)) return 0;
  memset(dx, 0, sizeof *dx * (size_t)(d->n * d->h * d->w * d->c));
  for (int n = 0; n < d->n; ++n) {
    for (int h = 0; h < d->h; ++h) {
      for (int column = 0; column < d->w; ++column, dx += d->c) {
        for (int r = 0; r < d->r; ++r) {
          const int from_h = h + d->pad_top - r * d->dilation_h;
          const int p = from_h / d->stride_h;
          if (from_h < 0 || from_h % d->stride_h != 0 || p >= d->p) continue;
          for (int s = 0; s < d->s; ++s) {
            const int from_w = column + d->pad_left - s * d->dilation_w;
            const int q = from_w / d->stride_w;
            if (from_w < 0 || from_w % d->stride_w != 0 || q >= d->q) continue;
            quantized_helium_grad_tap(dx, dy + (((ptrdiff_t)n * d->p + p) * d->q + q) * d->k,
                                      w + r * d->s + s, d->r * d->s, d->c);
          }
        }
      }
    }
  }
  return 1;
}

/* Four rows of four results of a channel, from their windows' last row and first column on; see
   quantized_micro_plane_four. to: the first result, `step` numbers before that of the next column
   and `row` before that of the next row. */
static QUANTIZED_HELIUM_ALONE void quantized_helium_plane(real* to, int step, int row,
                                                          const real* x, int pitch,
                                                          const real* taps, int r, int s) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  const real* x1 = x + pitch;
  const real* x2 = x1 + pitch;
  const real* x3 = x2 + pitch;
  const uintptr_t steps[2] = {(uintptr_t)step, (uintptr_t)row * sizeof *to};
  uintptr_t back = (uintptr_t)(pitch - s) * sizeof *x;
  x += s - 1;
  x1 += s - 1;
  x2 += s - 1;
  x3 += s - 1;
  __asm__ volatile(
      "vmov.i32 q0, #0\n"
      "vmov.i32 q1, #0\n"
      "vmov.i32 q2, #0\n"
      "vmov.i32 q3, #0\n"
      "2:\n"
      "dls lr, %[s]\n"
      "1:\n"
      "ldr r4, [%[taps]], #4\n"
      "vldrw.32 q4, [%[x0]], #-4\n"
      "vldrw.32 q5, [%[x1]], #-4\n"
      "vmul.f32 q4, q4, r4\n"
      "vldrw.32 q6, [%[x2]], #-4\n"
      "vmul.f32 q5, q5, r4\n"
      "vldrw.32 q7, [%[x3]], #-4\n"
      "vmul.f32 q6, q6, r4\n"
      "vadd.f32 q0, q0, q4\n"
      "vmul.f32 q7, q7, r4\n"
      "vadd.f32 q1, q1, q5\n"
      "vadd.f32 q2, q2, q6\n"
      "vadd.f32 q3, q3, q7\n"
      "le lr, 1b\n"
      "sub %[x0], %[x0], %[back]\n"
      "sub %[x1], %[x1], %[back]\n"
      "sub %[x2], %[x2], %[back]\n"
      "sub %[x3], %[x3], %[back]\n"
      "subs %[r], %[r], #1\n"
      "bne 2b\n"
      "mov r4, #0\n"
      "vidup.u32 q4, r4, #4\n"
      "ldrd r4, %[back], [%[steps]]\n"
      "vmul.i32 q4, q4, r4\n"
      "vstrw.32 q0, [%[to], q4]\n"
      "add %[to], %[to], %[back]\n"
      "vstrw.32 q1, [%[to], q4]\n"
      "add %[to], %[to], %[back]\n"
      "vstrw.32 q2, [%[to], q4]\n"
      "add %[to], %[to], %[back]\n"
      "vstrw.32 q3, [%[to], q4]\n"
      : [to] "+&r"(to), [x0] "+&r"(x), [x1] "+&r"(x1), [x2] "+&r"(x2), [x3] "+&r"(x3),
        [taps] "+&r"(taps), [r] "+&r"(r), [back] "+&r"(back)
      : [s] "r"(s), [steps] "r"(steps)
      : "lr", "r4", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
  for (int i = 0; i < 4; ++i, x += pitch, to += row) {
    real four[4];
    quantized_micro_plane_four(four, x, pitch, taps, r, s);
    for (int j = 0; j < 4; ++j) to[j * step] = four[j];
  }
#endif
}

/* Rows of a channel, `pitch` apart in `to` and one behind the other in `from`: to[i] = from[step
   i], for n numbers of each, a multiple of four. */
static inline void quantized_helium_strided(real* to, const real* from, int step, int n, int rows,
                                            int pitch) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "mov r4, #0\n"
      "vidup.u32 q0, r4, #4\n"
      "vmul.i32 q0, q0, %[step]\n"
      "2:\n"
      "mov r4, %[to]\n"
      "dlstp.32 lr, %[n]\n"
      "1:\n"
      "vldrw.32 q1, [%[from], q0]\n"
      "add %[from], %[from], %[four]\n"
      "vstrw.32 q1, [r4], #16\n"
      "letp lr, 1b\n"
      "add %[to], %[to], %[pitch]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 2b\n"
      : [to] "+&r"(to), [from] "+&r"(from), [rows] "+&r"(rows)
      : [step] "r"(step), [four] "r"(4 * (size_t)step * sizeof *from), [n] "r"(n),
        [pitch] "r"((size_t)pitch * sizeof *to)
      : "lr", "r4", "q0", "q1", "cc", "memory");
#else
  for (; rows > 0; --rows, to += pitch) {
    for (int i = 0; i < n; ++i, from += step) to[i] = *from;
  }
#endif
}

/* In the place of the function of micro.h. */
static void quantized_micro_planes(real* dx, const real* dy, const int8_t* w,
                                   const conv2d_input_grad_dims* d) {
  real plane[QUANTIZED_MICRO_PLANE];
  real taps[QUANTIZED_MICRO_PLANE_TAPS + 4];
  const int pitch = quantized_micro_pitch(d);
  const int channels = d->c;
  const int row = d->w * channels;
  const int count = d->r * d->s;
  const int numbers = d->n * d->h * d->w * channels;
  real* const image = plane + (d->r - 1 - d->pad_top) * pitch + d->s - 1 - d->pad_left;
  if (d->h % 4 != 0 || d->w % 4 != 0 || numbers == 0 || !quantized_helium_is_exact(dy, numbers)) {
    quantized_micro_plain_planes(dx, dy, w, d);
    return;
  }
  memset(plane, 0, sizeof plane);
  for (int n = 0; n < d->n; ++n) {
    const ptrdiff_t offset = (ptrdiff_t)n * d->h * row;
    for (int c = 0; c < channels; ++c) {
      const int8_t* const tap = w + (ptrdiff_t)c * count;
      if (count >= 4) {
        quantized_helium_floats(taps, tap, 4, 0, count / 4);
        if (count % 4 != 0) quantized_helium_floats(taps + count - 4, tap + count - 4, 4, 0, 1);
      } else {
        for (int t = 0; t < count; ++t) taps[t] = (real)tap[t];
      }
      quantized_helium_strided(image, dy + offset + c, channels, d->w, d->h, pitch);
      for (int h = 0; h < d->h; h += 4) {
        const real* const last = plane + (h + d->r - 1) * pitch;
        for (int column = 0; column < d->w; column += 4) {
          quantized_helium_plane(dx + offset + (ptrdiff_t)h * row + column * channels + c, channels,
                                 row, last + column, pitch, taps, d->r, d->s);
        }
      }
    }
  }
}
