/* Results of a channel of depthwise int8 convolutions for the target cortex-m-dsp, by pairs of
 * taps.
 */
#include "ops/families/quantized/conv_cortex_m_dsp.h"

/* Depthwise convolutions: cells of four channels under some rows of results, and the weights of a
   channel. */
#define QUANTIZED_DSP_CELLS 600
#define QUANTIZED_DSP_PAIRS 64
/* Results of a channel whose bits are wanted, that are computed together. */
#define QUANTIZED_DSP_HALVES 64
typedef struct quantized_dsp_planes {
  union {
    int16_t cells[4 * QUANTIZED_DSP_CELLS]; /* less the zero point, 0 outside of the image */
    uint32_t aligned;
  } of;
  uint32_t pairs[QUANTIZED_DSP_PAIRS]; /* see quantized_dsp_pairs */
  int pitch;                           /* cells of a row */
  int16_t halves[4 * QUANTIZED_DSP_HALVES];
} quantized_dsp_planes;

/* quantized_dsp_pairs of rows of three, five and seven weights, for windows of a stride of one. */
static void quantized_dsp_odd_pairs(uint32_t* to, const int8_t* w, int rows, int s) {
  for (; rows > 0; --rows, w += s, to += s + 1) {
    if (s == 3) {
      const uint32_t w0 = (uint32_t)(int32_t)w[0];
      const uint32_t w1 = (uint32_t)(int32_t)w[1];
      const uint32_t w2 = (uint32_t)(int32_t)w[2];
      to[0] = quantized_dsp_lower(w0, w1);
      to[1] = w0 << 16;
      to[2] = w2 & 0xffffU;
      to[3] = quantized_dsp_lower(w1, w2);
    } else {
      const uint32_t first = quantized_dsp_word(w);
      const uint32_t last = quantized_dsp_word(w + s - 4);
      const uint32_t even = quantized_dsp_even_of(first); /* 0, 2 */
      const uint32_t odd = quantized_dsp_odd_of(first);   /* 1, 3 */
      const uint32_t low = quantized_dsp_even_of(last);   /* s - 4, s - 2 */
      const uint32_t high = quantized_dsp_odd_of(last);   /* s - 3, s - 1 */
      to[0] = quantized_dsp_lower(even, odd);
      to[1] = even << 16;
      to[2] = quantized_dsp_upper(even, odd);
      if (s == 7) {
        to[3] = quantized_dsp_ends(odd, even);
        to[4] = quantized_dsp_ends(high, low);
      }
      to[s - 2] = quantized_dsp_lower(low, high);
      to[s - 1] = high >> 16;
      to[s] = quantized_dsp_upper(low, high);
    }
  }
}

/* Of each row of s weights the pairs (0, 1), (2, 3) ... and (none, 0), (1, 2) ... in turns; for
   windows of a stride of two only the former. */
static void quantized_dsp_pairs(uint32_t* to, const int8_t* w, int rows, int s, int stride) {
  const int step = 3 - stride;
  const int8_t* const last = w + rows * s;
  if (stride == 1 && (s == 3 || s == 5 || s == 7)) {
    quantized_dsp_odd_pairs(to, w, rows, s);
    return;
  }
  while (w != last) {
    const int8_t* const end = w + s;
    const int8_t* const words = w + (s & ~3);
    uint32_t before = 0; /* the upper half */
    uint32_t w0, w1, w2;
    for (; w != words; w += 4, to += 2 * step) {
      const uint32_t word = quantized_dsp_word(w);
      const uint32_t even = quantized_dsp_even_of(word);
      const uint32_t odd = quantized_dsp_odd_of(word);
      to[0] = quantized_dsp_lower(even, odd);
      to[step] = quantized_dsp_upper(even, odd);
      if (stride == 1) {
        to[1] = quantized_dsp_upper(before, even << 16);
        to[3] = (odd & 0xffffU) | (even & 0xffff0000U);
      }
      before = odd;
    }
    w0 = w != end ? (uint32_t)(int32_t)w[0] : 0;
    w1 = end - w > 1 ? (uint32_t)(int32_t)w[1] : 0;
    w2 = end - w > 2 ? (uint32_t)(int32_t)w[2] : 0;
    to[0] = quantized_dsp_lower(w0, w1);
    if (stride == 1) to[1] = quantized_dsp_upper(before, w0 << 16);
    to += step;
    if (end - w > 1) {
      to[0] = w2 & 0xffffU;
      if (stride == 1) to[1] = quantized_dsp_lower(w1, w2);
      to += step;
    }
    w = end;
  }
}

/* sums = of four windows, `stride` apart: pair number i of a row by the pairs of weights. */
#define QUANTIZED_DSP_STEP(i, first, second)              \
  second = quantized_dsp_word(x + 2 * (i) + 2);           \
  a0 = quantized_dsp_products(first, w[2 * (i)], a0);     \
  a1 = quantized_dsp_products(first, w[2 * (i) + 1], a1); \
  a2 = quantized_dsp_products(second, w[2 * (i)], a2);    \
  a3 = quantized_dsp_products(second, w[2 * (i) + 1], a3);
static inline void quantized_dsp_windows(int32_t* sums, const int16_t* x, const uint32_t* w,
                                         int rows, int pairs, int pitch, int stride) {
  int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  uint32_t even, odd;
  if (stride == 1 && pairs == 2) {
    for (; rows > 0; --rows, x += pitch, w += 4) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
    }
  } else if (stride == 1 && pairs == 3) {
    for (; rows > 0; --rows, x += pitch, w += 6) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
      QUANTIZED_DSP_STEP(2, even, odd)
    }
  } else if (stride == 1 && pairs == 4) {
    for (; rows > 0; --rows, x += pitch, w += 8) {
      even = quantized_dsp_word(x);
      QUANTIZED_DSP_STEP(0, even, odd)
      QUANTIZED_DSP_STEP(1, odd, even)
      QUANTIZED_DSP_STEP(2, even, odd)
      QUANTIZED_DSP_STEP(3, odd, even)
    }
  } else if (stride == 1) {
    for (; rows > 0; --rows, x += pitch, w += 2 * pairs) {
      even = quantized_dsp_word(x);
      for (int i = 0; i < pairs; ++i, even = odd) {
        const uint32_t* const all = w;
        w += 2 * i;
        x += 2 * i;
        QUANTIZED_DSP_STEP(0, even, odd)
        x -= 2 * i;
        w = all;
      }
    }
  } else {
    for (; rows > 0; --rows, x += pitch) {
      const uint32_t* const end = w + pairs;
      const int16_t* from = x;
      uint32_t x0 = quantized_dsp_word(x), x1 = quantized_dsp_word(x + 2);
      uint32_t x2 = quantized_dsp_word(x + 4);
      for (; w != end; ++w, from += 2) {
        const uint32_t x3 = quantized_dsp_word(from + 6);
        a0 = quantized_dsp_products(x0, *w, a0);
        a1 = quantized_dsp_products(x1, *w, a1);
        a2 = quantized_dsp_products(x2, *w, a2);
        a3 = quantized_dsp_products(x3, *w, a3);
        x0 = x1;
        x1 = x2;
        x2 = x3;
      }
    }
  }
  sums[0] = a0;
  sums[1] = a1;
  sums[2] = a2;
  sums[3] = a3;
}

/* Rows of results of one channel of a depthwise convolution. */
typedef struct quantized_dsp_channel {
  const int16_t* cells; /* under the first row */
  const uint32_t* w;    /* see quantized_dsp_pairs */
  int32_t bias;
  int rows;  /* of results */
  int lines; /* of a window */
  int pairs; /* of a line */
  int pitch; /* cells of a line */
} quantized_dsp_channel;

/* Rows of results of a channel, four windows at a time. The order of the members is that of
   quantized_dsp_windows_of. */
typedef struct quantized_dsp_rows_of {
  int32_t bias[2]; /* the same twice */
  float scale;
  const uint32_t* w; /* see quantized_dsp_pairs */
  void* y;
  int32_t step;           /* of y, from a result to the next */
  int32_t advance;        /* bytes from behind the last line of four windows to the next four */
  const int16_t* row_end; /* where those behind the last four of a row would begin */
  const uint32_t* w_end;
  int32_t row_jump;    /* bytes from there to the first windows of the next row */
  int32_t row_cells;   /* from the windows of a row to those of the next */
  const int16_t* last; /* row_end of the last row */
  int32_t pitch;       /* bytes of a line */
  const int16_t* x;    /* the first windows */
  float offset;        /* see quantized_dsp_takes */
} quantized_dsp_rows_of;

/* A pair of taps of four windows: words of cells and of weights. */
#define QUANTIZED_DSP_PAIR(x0, x1, x2, x3, w0, w1) \
  "smlad r0, " x0 ", " w0                          \
  ", r0\n"                                         \
  "smlad r1, " x1 ", " w1                          \
  ", r1\n"                                         \
  "smlad r2, " x2 ", " w0                          \
  ", r2\n"                                         \
  "smlad r3, " x3 ", " w1 ", r3\n"
/* Lines of two to four pairs, of windows one cell apart. */
#define QUANTIZED_DSP_ONE_2                                                   \
  "ldmia r12, {r4-r6}\n"                                                      \
  "ldmia lr!, {r8-r11}\n"                                                     \
  "add r12, r12, r7\n" QUANTIZED_DSP_PAIR("r4", "r4", "r5", "r5", "r8", "r9") \
      QUANTIZED_DSP_PAIR("r5", "r5", "r6", "r6", "r10", "r11")
#define QUANTIZED_DSP_ONE_MORE(x, next) \
  "ldmia lr!, {r10, r11}\n" QUANTIZED_DSP_PAIR(x, x, next, next, "r10", "r11")
#define QUANTIZED_DSP_ONE_3                                                                  \
  "ldmia r12, {r4-r6, r8}\n"                                                                 \
  "add r12, r12, r7\n" QUANTIZED_DSP_ONE_MORE("r4", "r5") QUANTIZED_DSP_ONE_MORE("r5", "r6") \
      QUANTIZED_DSP_ONE_MORE("r6", "r8")
#define QUANTIZED_DSP_ONE_4                                                                  \
  "ldmia r12, {r4-r6, r8, r9}\n"                                                             \
  "add r12, r12, r7\n" QUANTIZED_DSP_ONE_MORE("r4", "r5") QUANTIZED_DSP_ONE_MORE("r5", "r6") \
      QUANTIZED_DSP_ONE_MORE("r6", "r8") QUANTIZED_DSP_ONE_MORE("r8", "r9")
/* The same two cells apart. */
#define QUANTIZED_DSP_TWO_2                                                          \
  "ldmia r12, {r4-r6, r8, r9}\n"                                                     \
  "ldmia lr!, {r10, r11}\n" QUANTIZED_DSP_PAIR("r4", "r5", "r6", "r8", "r10", "r10") \
      QUANTIZED_DSP_PAIR("r5", "r6", "r8", "r9", "r11", "r11")
#define QUANTIZED_DSP_TWO_3 \
  QUANTIZED_DSP_TWO_2       \
  "ldr r4, [r12, #20]\n"    \
  "ldr r10, [lr], #4\n" QUANTIZED_DSP_PAIR("r6", "r8", "r9", "r4", "r10", "r10")
#define QUANTIZED_DSP_TWO_4                                                          \
  QUANTIZED_DSP_TWO_2                                                                \
  "ldrd r4, r5, [r12, #20]\n"                                                        \
  "ldmia lr!, {r10, r11}\n" QUANTIZED_DSP_PAIR("r6", "r8", "r9", "r4", "r10", "r10") \
      QUANTIZED_DSP_PAIR("r8", "r9", "r4", "r5", "r11", "r11")
#define QUANTIZED_DSP_NEXT "add r12, r12, r7\n"
/* All lines of a window. */
#define QUANTIZED_DSP_LINES(line) \
  "1:\n" line                     \
  "vmov r4, s24\n"                \
  "cmp lr, r4\n"                  \
  "bne 1b\n"
/* Results in the halves of r0 and r2: to memory, `step` apart; or to the next eight bytes. */
#define QUANTIZED_DSP_TO_RESULTS \
  "ssat16 r0, #8, r0\n"          \
  "ssat16 r2, #8, r2\n"          \
  "vmov r4, r5, s20, s21\n"      \
  "strb r0, [r4]\n"              \
  "lsr r0, r0, #16\n"            \
  "strb r0, [r4, r5]\n"          \
  "add r4, r4, r5, lsl #1\n"     \
  "strb r2, [r4]\n"              \
  "lsr r2, r2, #16\n"            \
  "strb r2, [r4, r5]\n"          \
  "add r4, r4, r5, lsl #1\n"     \
  "vmov s20, r4\n"
#define QUANTIZED_DSP_TO_HALVES \
  "vmov r4, s20\n"              \
  "strd r0, r2, [r4], #8\n"     \
  "vmov s20, r4\n"
/* s16 to s27: the first members; sp: four times offset; r7, which may be the frame pointer and is
   put back: pitch; r12: x; lr: w. */
#define QUANTIZED_DSP_ROWS(lines, store)                                                       \
  __asm__ volatile(                                                                            \
      "vmov s31, r7\n"                                                                         \
      "sub sp, sp, #16\n"                                                                      \
      "vldmia r0!, {s16-s27}\n"                                                                \
      "ldmia r0, {r4-r6}\n"                                                                    \
      "mov r7, r4\n"                                                                           \
      "mov r12, r5\n"                                                                          \
      "strd r6, r6, [sp]\n"                                                                    \
      "strd r6, r6, [sp, #8]\n"                                                                \
      "2:\n"                                                                                   \
      "vmov r0, r1, s16, s17\n"                                                                \
      "vmov r2, r3, s16, s17\n"                                                                \
      "vmov lr, s19\n" lines                                                                   \
      "vmov s0, s1, r0, r1\n"                                                                  \
      "vmov s2, s3, r2, r3\n"                                                                  \
      "vcvt.f32.s32 s0, s0\n"                                                                  \
      "vcvt.f32.s32 s1, s1\n"                                                                  \
      "vcvt.f32.s32 s2, s2\n"                                                                  \
      "vcvt.f32.s32 s3, s3\n"                                                                  \
      "vldmia sp, {s4-s7}\n"                                                                   \
      "vmla.f32 s4, s0, s18\n"                                                                 \
      "vmla.f32 s5, s1, s18\n"                                                                 \
      "vmla.f32 s6, s2, s18\n"                                                                 \
      "vmla.f32 s7, s3, s18\n"                                                                 \
      "vmov r0, r1, s4, s5\n"                                                                  \
      "vmov r2, r3, s6, s7\n"                                                                  \
      "pkhbt r0, r0, r1, lsl #16\n"                                                            \
      "pkhbt r2, r2, r3, lsl #16\n" store                                                      \
      "vmov r4, r5, s22, s23\n"                                                                \
      "add r12, r12, r4\n"                                                                     \
      "cmp r12, r5\n"                                                                          \
      "bne.w 2b\n"                                                                             \
      "vmov r4, r6, s25, s26\n"                                                                \
      "vmov r8, s27\n"                                                                         \
      "add r12, r12, r4\n"                                                                     \
      "cmp r5, r8\n"                                                                           \
      "add r5, r5, r6\n"                                                                       \
      "vmov s23, r5\n"                                                                         \
      "bne.w 2b\n"                                                                             \
      "add sp, sp, #16\n"                                                                      \
      "vmov r7, s31\n"                                                                         \
      : "+r"(r0)                                                                               \
      :                                                                                        \
      : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", \
        "s2", "s3", "s4", "s5", "s6", "s7", "s16", "s17", "s18", "s19", "s20", "s21", "s22",   \
        "s23", "s24", "s25", "s26", "s27", "s31", "cc", "memory")

/* For windows of 2 to 4 pairs, one or two cells apart. */
#define QUANTIZED_DSP_ALL_ROWS(store)                                                         \
  switch (4 * stride + pairs + (pairs == 2 && lines == 3 ? 16 : 0)) {                         \
    case 6:                                                                                   \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_ONE_2), store);                    \
      break;                                                                                  \
    case 7:                                                                                   \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_ONE_3), store);                    \
      break;                                                                                  \
    case 8:                                                                                   \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_ONE_4), store);                    \
      break;                                                                                  \
    case 10:                                                                                  \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_TWO_2 QUANTIZED_DSP_NEXT), store); \
      break;                                                                                  \
    case 11:                                                                                  \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_TWO_3 QUANTIZED_DSP_NEXT), store); \
      break;                                                                                  \
    case 12:                                                                                  \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_LINES(QUANTIZED_DSP_TWO_4 QUANTIZED_DSP_NEXT), store); \
      break;                                                                                  \
    case 22:                                                                                  \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_ONE_2 QUANTIZED_DSP_ONE_2 QUANTIZED_DSP_ONE_2, store); \
      break;                                                                                  \
    default:                                                                                  \
      QUANTIZED_DSP_ROWS(QUANTIZED_DSP_TWO_2 QUANTIZED_DSP_NEXT QUANTIZED_DSP_TWO_2           \
                             QUANTIZED_DSP_NEXT QUANTIZED_DSP_TWO_2 QUANTIZED_DSP_NEXT,       \
                         store);                                                              \
      break;                                                                                  \
  }

#ifndef QUANTIZED_HELIUM /* conv_helium.h has its own */
/* Computes them, where there are such instructions, and returns whether it has. to_halves: 16 bits
   each, one behind the other, as they are before they are clamped. */
static QUANTIZED_DSP_ALONE int quantized_dsp_all_rows(const quantized_dsp_rows_of* rows, int pairs,
                                                      int stride, int lines, int to_halves) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  register const quantized_dsp_rows_of* r0 __asm__("r0") = rows;
  if (to_halves) {
    QUANTIZED_DSP_ALL_ROWS(QUANTIZED_DSP_TO_HALVES)
  } else {
    QUANTIZED_DSP_ALL_ROWS(QUANTIZED_DSP_TO_RESULTS)
  }
  return 1;
#else
  (void)rows;
  (void)pairs;
  (void)stride;
  (void)lines;
  (void)to_halves;
  return 0;
#endif
}
#else
static int quantized_dsp_all_rows(const quantized_dsp_rows_of* rows, int pairs, int stride,
                                  int lines, int to_halves);
#endif

/* Four results, 128 more than they are, as halves of channels 0 and 2 and of 1 and 3: to y, and
   those of `marks` that lie within bytes to bits. */
static inline void quantized_dsp_put_four(int8_t* y, uint8_t* bits, uint32_t marks, uint32_t even,
                                          uint32_t odd) {
#if defined(__ARM_FEATURE_DSP)
  const uint32_t above = (even & 0xff00ff00U) | (odd & 0xff00ff00U) >> 8;
  uint32_t levels, more, mask;
  __asm__("usat16 %0, #8, %1" : "=r"(levels) : "r"(even));
  __asm__("usat16 %0, #8, %1" : "=r"(more) : "r"(odd));
  levels = (levels | more << 8) ^ 0x80808080U;
  memcpy(y, &levels, sizeof levels);
  __asm__("usub8 %0, %1, %2\nsel %0, %3, %1\nusad8 %0, %0, %1"
          : "=&r"(mask)
          : "r"(0), "r"(above), "r"(marks)
          : "cc");
  *bits |= (uint8_t)mask;
#else
  (void)y;
  (void)bits;
  (void)marks;
  (void)even;
  (void)odd;
#endif
}

/* n results of four channels, QUANTIZED_DSP_HALVES apart in `halves`; n: even. */
static QUANTIZED_DSP_ALONE void quantized_dsp_put_halves(int8_t* y, uint8_t* bits, uint32_t marks,
                                                         const int16_t* halves, int n,
                                                         int channels) {
  for (const int16_t* const end = halves + n; halves != end; halves += 2) {
    const uint32_t c0 = quantized_dsp_word(halves);
    const uint32_t c1 = quantized_dsp_word(halves + QUANTIZED_DSP_HALVES);
    const uint32_t c2 = quantized_dsp_word(halves + 2 * QUANTIZED_DSP_HALVES);
    const uint32_t c3 = quantized_dsp_word(halves + 3 * QUANTIZED_DSP_HALVES);
    quantized_dsp_put_four(y, bits, marks, quantized_dsp_lower(c0, c2),
                           quantized_dsp_lower(c1, c3));
    y += channels;
    bits += channels / 8;
    quantized_dsp_put_four(y, bits, marks, quantized_dsp_upper(c0, c2),
                           quantized_dsp_upper(c1, c3));
    y += channels;
    bits += channels / 8;
  }
}

/* Any results, from number `at` on. */
static QUANTIZED_DSP_ALONE void quantized_dsp_depthwise(const quantized_micro_out* to, ptrdiff_t at,
                                                        const quantized_dsp_channel* c,
                                                        const quantized_conv2d_dims* dims,
                                                        const quantized_factor* factor) {
  const conv_dims* d = &dims->conv;
  const int16_t* line = c->cells;
  for (int row = 0; row < c->rows; ++row, line += d->stride_h * c->pitch) {
    for (int q = 0; q < d->q; q += QUANTIZED_MICRO_PIXELS) {
      const int count = d->q - q < QUANTIZED_MICRO_PIXELS ? d->q - q : QUANTIZED_MICRO_PIXELS;
      int32_t v[QUANTIZED_MICRO_PIXELS];
      quantized_dsp_windows(v, line + q * d->stride_w, c->w, c->lines, c->pairs, c->pitch,
                            d->stride_w);
      if (to->is_plain && count == QUANTIZED_MICRO_PIXELS) {
        quantized_dsp_levels(v, c->bias, factor->scale, to->result->zero_point);
        quantized_dsp_put(to, at, d->k, v);
      } else {
        quantized_micro_finish(to, at, d->k, v, count, c->bias, factor);
      }
      at += (ptrdiff_t)count * d->k;
    }
  }
}
