/* Channels of depthwise int8 convolutions for the target helium, by vectors of taps. */
#include "ops/families/quantized/conv_helium.h"

/* A channel of a depthwise convolution: some rows of a window are one vector of taps. Four windows
   side by side are computed together. */
typedef struct quantized_helium_windows {
  int32_t start[4]; /* of the sums: four times the same */
  int8_t w[4][16];
  uint8_t places[4][16]; /* of the taps of a vector in each window, from the first tap on */
  uint32_t steps[8];     /* bytes from the first result to those of all windows; of their bits */
  int32_t bias;          /* added with saturation */
  float scale;
  int32_t zero;
  int32_t x_back;  /* bytes that the vectors go beyond the next windows */
  int32_t y_step;  /* from the results to those of the next windows */
  int32_t vectors; /* of a window */
  int32_t x_step;  /* from the cells of a vector to those of the next */
  uint8_t* bits;   /* of the first result */
  int32_t bit;
  int32_t bits_step;
  int32_t x_next;   /* windows: bytes to the next ones, in a row */
  int32_t together; /* four windows each, of a row */
  int32_t x_row;    /* bytes from the end of a row's windows to the next row's */
  int32_t rows;
  /* For quantized_helium_small_channels. */
  const int8_t* const*
      lines; /* see quantized_helium_gather, of which the next ones are arguments */
  int32_t count;
  int32_t k;
  int32_t step;
  int32_t n;
  int32_t pitch;
  int8_t* to;
  const int8_t* x; /* the first window */
  const int8_t* weights;
  int32_t taps;
  const int32_t* added; /* biases and factors of the channels */
  const quantized_factor* factors;
  int32_t less; /* the zero point of x, negated */
  int32_t channels;
  int8_t* y; /* the first result of the first channel */
} quantized_helium_windows;

/* Lines of `pitch` cells: channel k of n columns, `step` bytes apart, of the lines of an image.
   n, count: not 0; step: 8192 at most. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_gather(int8_t* to, const int8_t* const* lines,
                                                          int count, int k, int step, int n,
                                                          int pitch) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "mov r4, #0\n"
      "vidup.u16 q0, r4, #1\n"
      "vmul.i16 q0, q0, %[step]\n"
      "lsl %[step], %[step], #3\n"
      "2:\n"
      "ldr r4, [%[lines]], #4\n"
      "mov r5, %[to]\n"
      "add r4, r4, %[k]\n"
      "dlstp.16 lr, %[n]\n"
      "1:\n"
      "vldrb.u16 q1, [r4, q0]\n"
      "add r4, r4, %[step]\n"
      "vstrb.16 q1, [r5], #8\n"
      "letp lr, 1b\n"
      "add %[to], %[to], %[pitch]\n"
      "subs %[count], %[count], #1\n"
      "bne 2b\n"
      : [to] "+&r"(to), [lines] "+&r"(lines), [count] "+&r"(count), [step] "+&r"(step)
      : [k] "r"(k), [n] "r"(n), [pitch] "r"(pitch)
      : "lr", "r4", "r5", "q0", "q1", "cc", "memory");
#else
  for (int l = 0; l < count; ++l, to += pitch) {
    for (int i = 0; i < n; ++i) to[i] = lines[l][k + (ptrdiff_t)i * step];
  }
#endif
}

/* n weights, sixteen at most, then zeros. Returns their sum. */
static inline int32_t quantized_helium_vector(int8_t* to, const int8_t* w, int n) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  int32_t sum;
  __asm__ volatile(
      "vctp.8 %[n]\n"
      "vpst\n"
      "vldrbt.8 q0, [%[from]]\n"
      "vaddv.s8 %[sum], q0\n"
      "vstrb.8 q0, [%[to]]\n"
      : [sum] "=Te"(sum)
      : [n] "r"(n), [from] "r"(w), [to] "r"(to)
      : "q0", "memory");
#else
  int32_t sum = 0;
  memset(to, 0, 16);
  for (int i = 0; i < n; ++i) sum += to[i] = w[i];
#endif
  return sum;
}

/* The weights of a channel: `taps` of a vector, `all` of a window. Returns their sum. */
static inline int32_t quantized_helium_weights(quantized_helium_windows* t, const int8_t* w,
                                               int taps, int all) {
  int32_t sum = 0;
  for (int8_t* to = t->w[0]; all > 0; to += 16, w += taps, all -= taps) {
    sum += quantized_helium_vector(to, w, all < taps ? all : taps);
  }
  return sum;
}

#define QUANTIZED_HELIUM_WINDOWS \
  "add r1, %[c], #80\n"          \
  "vldrb.8 q0, [r1]\n"           \
  "vldrb.8 q1, [r1, #16]\n"      \
  "vldrb.8 q2, [r1, #32]\n"      \
  "vldrb.8 q3, [r1, #48]\n"      \
  "vldrw.32 q7, [%[c], #144]\n"  \
  "ldrd r3, r5, [%[c], #196]\n"  \
  "3:\n"                         \
  "ldr %[n], [%[c], #220]\n"     \
  "2:\n"                         \
  "ldm %[c], {r0, r2, r4, r6}\n" \
  "add r1, %[c], #16\n"          \
  "dls lr, r3\n"                 \
  "1:\n"                         \
  "vldrb.8 q4, [r1], #16\n"      \
  "vldrb.u8 q5, [%[x], q0]\n"    \
  "vmladava.s8 r0, q4, q5\n"     \
  "vldrb.u8 q6, [%[x], q1]\n"    \
  "vmladava.s8 r2, q4, q6\n"     \
  "vldrb.u8 q5, [%[x], q2]\n"    \
  "vmladava.s8 r4, q4, q5\n"     \
  "vldrb.u8 q6, [%[x], q3]\n"    \
  "vmladava.s8 r6, q4, q6\n"     \
  "add %[x], %[x], r5\n"         \
  "le lr, 1b\n"                  \
  "vmov d12, r0, r2\n"           \
  "vmov d13, r4, r6\n"           \
  "ldrd r0, r2, [%[c], #176]\n"  \
  "ldrd r4, r6, [%[c], #184]\n"  \
  "vqadd.s32 q6, q6, r0\n"       \
  "ldr r0, [%[c], #192]\n"       \
  "vcvt.f32.s32 q6, q6\n"        \
  "sub %[x], %[x], r6\n"         \
  "vmul.f32 q6, q6, r2\n"        \
  "vcvtn.s32.f32 q6, q6\n"       \
  "vqadd.s32 q6, q6, r4\n"       \
  "vqmovnb.s32 q5, q6\n"         \
  "vqmovnb.s16 q5, q5\n"         \
  "vstrb.32 q5, [%[y], q7]\n"    \
  "add %[y], %[y], r0\n"
#define QUANTIZED_HELIUM_NEXT_WINDOWS \
  "subs %[n], %[n], #1\n"             \
  "bne 2b\n"                          \
  "ldrd r0, r2, [%[c], #224]\n"       \
  "add %[x], %[x], r0\n"              \
  "subs r2, r2, #1\n"                 \
  "str r2, [%[c], #228]\n"            \
  "bne 3b\n"

/* Results of c->rows rows, and the bits of those within the bounds, if there are any. x: the first
   window. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_rows(int8_t* y, const int8_t* x,
                                                        quantized_helium_windows* c) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  int n = 0;
  if (c->bits) {
    __asm__ volatile(QUANTIZED_HELIUM_WINDOWS
                     "mov r2, #128\n"
                     "vldrw.32 q4, [%[c], #160]\n"
                     "vadd.i32 q6, q6, r2\n"
                     "ldrd r4, r0, [%[c], #204]\n"
                     "vmov.i32 q5, #255\n"
                     "vldrb.u32 q7, [r4, q4]\n"
                     "ldr r6, [%[c], #212]\n"
                     "vpt.u32 cs, q5, q6\n"
                     "vaddt.i32 q7, q7, r0\n"
                     "vstrb.32 q7, [r4, q4]\n"
                     "add r4, r4, r6\n"
                     "vldrw.32 q7, [%[c], #144]\n"
                     "str r4, [%[c], #204]\n" QUANTIZED_HELIUM_NEXT_WINDOWS
                     : [y] "+r"(y), [x] "+r"(x), [n] "+r"(n)
                     : [c] "r"(c)
                     : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4",
                       "q5", "q6", "q7", "cc", "memory");
    return;
  }
  __asm__ volatile(QUANTIZED_HELIUM_WINDOWS QUANTIZED_HELIUM_NEXT_WINDOWS
                   : [y] "+r"(y), [x] "+r"(x), [n] "+r"(n)
                   : [c] "r"(c)
                   : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "q0", "q1", "q2", "q3", "q4",
                     "q5", "q6", "q7", "cc", "memory");
#else
  for (; c->rows > 0; --c->rows, x += c->x_row) {
    for (int q = 0; q < c->together; ++q, x += c->x_next, y += c->y_step) {
      for (int j = 0; j < 4; ++j) {
        int32_t sum = c->start[j], v;
        for (int i = 0; i < 16 * c->vectors; ++i) {
          sum += x[i / 16 * c->x_step + c->places[j][i % 16]] * c->w[i / 16][i % 16];
        }
        sum = quantized_saturate((int64_t)sum + c->bias);
        v = quantized_nearest((float)sum * c->scale) + c->zero;
        y[c->steps[j]] = (int8_t)quantized_dsp_byte(v);
        if (c->bits) {
          quantized_dsp_mark(c->bits + c->steps[4 + j], c->bit, (uint32_t)v + 128U < 256U);
        }
      }
      if (c->bits) c->bits += c->bits_step;
    }
  }
#endif
}

/* Results of c->rows rows of c->channels channels, without bits, where a window is one vector and
   nothing saturates. */
static QUANTIZED_HELIUM_ROOM void quantized_helium_small_channels(quantized_helium_windows* c) {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  __asm__ volatile(
      "6:\n" /* the lines of a channel */
      "ldr r0, [%[c], #244]\n"
      "mov r4, #0\n"
      "vidup.u16 q0, r4, #1\n"
      "vmul.i16 q0, q0, r0\n"
      "lsl r0, r0, #3\n"
      "ldrd r1, r10, [%[c], #232]\n"
      "ldrd r3, r5, [%[c], #252]\n"
      "ldr r6, [%[c], #240]\n"
      "ldr r8, [%[c], #248]\n"
      "5:\n"
      "ldr r4, [r1], #4\n"
      "mov r2, r5\n"
      "add r4, r4, r6\n"
      "dlstp.16 lr, r8\n"
      "4:\n"
      "vldrb.u16 q1, [r4, q0]\n"
      "add r4, r4, r0\n"
      "vstrb.16 q1, [r2], #8\n"
      "letp lr, 4b\n"
      "add r5, r5, r3\n"
      "subs r10, r10, #1\n"
      "bne 5b\n"
      "add r6, r6, #1\n"
      "str r6, [%[c], #240]\n"
      /* Its weights, the start of its sums, and its factor. */
      "ldrd r1, r2, [%[c], #264]\n"
      "vctp.8 r2\n"
      "vpst\n"
      "vldrbt.8 q4, [r1]\n"
      "vaddv.s8 r4, q4\n"
      "add r1, r1, r2\n"
      "str r1, [%[c], #264]\n"
      "ldrd r0, r5, [%[c], #272]\n"
      "ldr r1, [r0], #4\n"
      "ldr r3, [r5], %[factor]\n"
      "strd r0, r5, [%[c], #272]\n"
      "ldr r2, [%[c], #280]\n"
      "mla r1, r4, r2, r1\n"
      "add r0, %[c], #80\n"
      "vldrb.8 q0, [r0]\n"
      "vldrb.8 q1, [r0, #16]\n"
      "vldrb.8 q2, [r0, #32]\n"
      "vldrb.8 q3, [r0, #48]\n"
      "vldrw.32 q7, [%[c], #144]\n"
      "ldr r5, [%[c], #184]\n"
      "ldr r8, [%[c], #192]\n"
      "ldr r11, [%[c], #260]\n"
      "ldr r12, [%[c], #288]\n"
      "add r0, r12, #1\n"
      "str r0, [%[c], #288]\n"
      "ldr r0, [%[c], #228]\n"
      "3:\n" /* four windows at a time */
      "push {r0}\n"
      "ldrd r10, lr, [%[c], #216]\n"
      "dls lr, lr\n"
      "2:\n"
      "vldrb.u8 q5, [r11, q0]\n"
      "vmladav.s8 r0, q4, q5\n"
      "vldrb.u8 q6, [r11, q1]\n"
      "vmladav.s8 r2, q4, q6\n"
      "vldrb.u8 q5, [r11, q2]\n"
      "vmladav.s8 r4, q4, q5\n"
      "vldrb.u8 q6, [r11, q3]\n"
      "vmladav.s8 r6, q4, q6\n"
      "vmov d12, r0, r2\n"
      "vmov d13, r4, r6\n"
      "vadd.i32 q6, q6, r1\n"
      "add r11, r11, r10\n"
      "vcvt.f32.s32 q6, q6\n"
      "vmul.f32 q6, q6, r3\n"
      "vcvtn.s32.f32 q6, q6\n"
      "vqadd.s32 q6, q6, r5\n"
      "vqmovnb.s32 q6, q6\n"
      "vqmovnb.s16 q6, q6\n"
      "vstrb.32 q6, [r12, q7]\n"
      "add r12, r12, r8\n"
      "le lr, 2b\n"
      "ldr r0, [%[c], #224]\n"
      "add r11, r11, r0\n"
      "pop {r0}\n"
      "subs r0, r0, #1\n"
      "bne 3b\n"
      "ldr r0, [%[c], #284]\n"
      "subs r0, r0, #1\n"
      "str r0, [%[c], #284]\n"
      "bne 6b\n"
      :
      : [c] "r"(c), [factor] "i"(sizeof(quantized_factor))
      : "lr", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r10", "r11", "r12", "q0", "q1", "q2",
        "q3", "q4", "q5", "q6", "q7", "cc", "memory");
#else
  for (int i = 0; i < c->channels; ++i) {
    const int rows = c->rows;
    const int32_t start =
        c->less * quantized_helium_weights(c, c->weights + i * c->taps, c->taps, c->taps);
    for (int j = 0; j < 4; ++j) c->start[j] = start;
    c->bias = c->added[i];
    c->scale = c->factors[i].scale;
    c->bits = NULL;
    quantized_helium_gather(c->to, c->lines, c->count, c->k + i, c->step, c->n, c->pitch);
    quantized_helium_rows(c->y + i, c->x, c);
    c->rows = rows;
  }
#endif
}

/* How many of n biases, from the first on, cannot make sums saturate. */
static inline int quantized_helium_small(const int32_t* bias, int n) {
  const int32_t* const first = bias;
  for (const int32_t* const end = bias + n; bias != end; ++bias) {
    if ((uint32_t)*bias + 0x40000000U >= 0x80000000U) break;
  }
  return (int)(bias - first);
}
