/* Four channels of dense int8 convolutions for the target cortex-m-dsp: the results of a pixel are
   one word. */
#include "ops/families/quantized/windows_cortex_m_dsp.h"

/* Whether the results of a channel can be computed as float(sum) * scale + offset: sums with the
   bias and the results before they are clamped fit 32 and 16 bits. Channels without a weight of
   notice may have biases at the end of int32: all their results are equal, and a product of 0 and
   another offset takes their place. */
static int quantized_dsp_takes(int32_t* bias, float* scale, float* offset, int taps) {
  const int32_t most = taps * 255 * 128;
  const uint32_t size = *bias < 0 ? 0U - (uint32_t)*bias : (uint32_t)*bias;
  if (size > 0x40000000U) {
    const int32_t low = quantized_saturate((int64_t)*bias - most);
    const int32_t high = quantized_saturate((int64_t)*bias + most);
    const int32_t level = quantized_nearest((float)low * *scale);
    if (level != quantized_nearest((float)high * *scale)) return 0;
    *offset += (float)level;
    *bias = 0;
    *scale = 0.0F;
    return 1;
  }
  return ((float)most + (float)size) * *scale < 32000.0F;
}

/* Four channels of many pixels. The order of the members is that of quantized_dsp_four. */
typedef struct quantized_dsp_group {
  int32_t bias[4];
  float scale[4];
  const uint32_t* w; /* see quantized_dsp_widen_four */
  const uint32_t* w_end;
  const uint32_t* x_end;
  uint32_t marks;  /* bits of the channels 1, 0, 3 and 2 in the byte of the mask */
  float offset[4]; /* QUANTIZED_MICRO_ROUND + 128 + zero point, and what is added to the channel */
  int8_t* y;
  int32_t y_step; /* bytes from a pixel to the next */
  uint8_t* bits;
  int32_t bits_step;
  const uint32_t* x; /* windows of the pixels, each as quantized_dsp_widen has it */
  int32_t skipped;   /* bytes of the instructions for 32 taps that the first round leaves out */
  int32_t has_half;  /* whether four taps come first */
} quantized_dsp_group;

/* Four channels of taps [0, taps): of each four taps those of 0 and 2 of all channels, and then
   those of 1 and 3. What is missing in the last ones is 0. */
static void quantized_dsp_widen_four(uint32_t* to, const int8_t* w, int taps) {
  const int whole = taps & ~3;
#if defined(__ARM_FEATURE_DSP)
  const int8_t* from = w;
  uint32_t* at = to;
  if (whole > 0) {
    __asm__ volatile(
        "1:\n"
        "ldr r5, [%[from], %[taps]]\n"
        "ldr r6, [%[from], %[taps], lsl #1]\n"
        "ldr r8, [%[from], %[thrice]]\n"
        "ldr r4, [%[from]], #4\n"
        "sxtb16 r9, r4\n"
        "sxtb16 r10, r5\n"
        "sxtb16 r11, r6\n"
        "sxtb16 r12, r8\n"
        "stmia %[at]!, {r9, r10, r11, r12}\n"
        "sxtb16 r4, r4, ror #8\n"
        "sxtb16 r5, r5, ror #8\n"
        "sxtb16 r6, r6, ror #8\n"
        "sxtb16 r8, r8, ror #8\n"
        "stmia %[at]!, {r4, r5, r6, r8}\n"
        "cmp %[from], %[end]\n"
        "bne 1b\n"
        : [from] "+r"(from), [at] "+r"(at)
        : [taps] "r"(taps), [thrice] "r"(3 * taps), [end] "r"(w + whole)
        : "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
  }
#else
  for (int c = 0; c < 4; ++c) {
    const int8_t* from = w + c * taps;
    for (uint32_t* at = to + c; at != to + c + 2 * whole; from += 4, at += 8) {
      const uint32_t word = quantized_dsp_word(from);
      at[0] = quantized_dsp_even_of(word);
      at[4] = quantized_dsp_odd_of(word);
    }
  }
#endif
  if (whole == taps) return;
  for (int c = 0; c < 4; ++c) {
    uint32_t rest[2];
    quantized_dsp_widen(rest, w + c * taps + whole, taps - whole);
    to[2 * whole + c] = rest[0];
    to[2 * whole + c + 4] = rest[1];
  }
}

/* Whether the results of these four channels can be computed so. */
static int quantized_dsp_takes_group(quantized_dsp_group* g, const int32_t* bias,
                                     const quantized_factor* factors, int zero, int taps) {
  int takes = 1;
  for (int c = 0; c < 4; ++c) {
    g->bias[c] = bias ? bias[c] : 0;
    g->scale[c] = factors[c].scale;
    g->offset[c] = QUANTIZED_MICRO_ROUND + 128.0F + (float)zero;
    takes = takes && quantized_dsp_takes(&g->bias[c], &g->scale[c], &g->offset[c], taps);
  }
  return takes;
}

/* Of four taps: the words r4 and r5, or others, by those of four channels. */
#define QUANTIZED_DSP_FOUR_BY(x) \
  "ldmia.w r11!, {r8-r10, lr}\n" \
  "smlad r0, " x                 \
  ", r8, r0\n"                   \
  "smlad r1, " x                 \
  ", r9, r1\n"                   \
  "smlad r2, " x                 \
  ", r10, r2\n"                  \
  "smlad r3, " x ", lr, r3\n"
/* 84 bytes of instructions for eight taps. */
#define QUANTIZED_DSP_EIGHT_TAPS                                                    \
  "ldmia.w r12!, {r4-r7}\n" QUANTIZED_DSP_FOUR_BY("r4") QUANTIZED_DSP_FOUR_BY("r5") \
      QUANTIZED_DSP_FOUR_BY("r6") QUANTIZED_DSP_FOUR_BY("r7")
/* The bits of four results that are above bytes in r0 and r1. */
#define QUANTIZED_DSP_FOUR_BITS \
  "bic r0, r0, #0x00ff00ff\n"   \
  "bic r1, r1, #0x00ff00ff\n"   \
  "orr r0, r0, r1, lsr #8\n"    \
  "mov r1, #0\n"                \
  "usub8 r2, r1, r0\n"          \
  "vmov r3, s30\n"              \
  "sel r0, r3, r1\n"            \
  "usad8 r0, r0, r1\n"          \
  "ldrd r4, r5, [sp, #24]\n"    \
  "ldrb r2, [r4]\n"             \
  "orr r2, r2, r0\n"            \
  "strb r2, [r4]\n"             \
  "add r4, r4, r5\n"            \
  "str r4, [sp, #24]\n"
/* Goes on with the next 32 taps, if there are any. */
#define QUANTIZED_DSP_FOUR_AGAIN \
  "vmov r4, s28\n"               \
  "cmp r11, r4\n"                \
  "bne 1b\n"
/* r0: the group; r7 may be the frame pointer and is put back. r12, r11: x and w. s20 to s23: scale;
   s26 to s30: the end of x, the address of what a pixel begins with, the end of w, the first
   instruction behind the first four taps, marks. sp: offset to bits_step, and then what a pixel
   begins with: bias, w, and the first instruction. */
#define QUANTIZED_DSP_FOUR_CHANNELS(again, bits) \
  __asm__ volatile(                                                                          \
      "vmov s31, r7\n"                                                                       \
      "sub sp, sp, #56\n"                                                                    \
      "vldmia r0!, {s16-s27}\n"                                                              \
      "ldmia r0!, {r1-r6, r8, r9}\n"                                                         \
      "stmia sp, {r1-r6, r8, r9}\n"                                                          \
      "ldmia r0, {r1-r3}\n"                                                                  \
      "mov r12, r1\n"                                                                        \
      "adr.w r4, 1f\n"                                                                       \
      "add r4, r4, r2\n"                                                                     \
      "orr r4, r4, #1\n"                                                                     \
      "vmov s28, s25\n"                                                                      \
      "vmov s29, r4\n"                                                                       \
      "vmov s30, s27\n"                                                                      \
      "cmp r3, #0\n"                                                                         \
      "beq 4f\n"                                                                             \
      "adr.w r4, 3f\n"                                                                       \
      "orr r4, r4, #1\n"                                                                     \
      "4:\n"                                                                                 \
      "add r5, sp, #32\n"                                                                    \
      "vmov s27, r5\n"                                                                       \
      "vstmia r5!, {s16-s19}\n"                                                              \
      "vmov r6, s24\n"                                                                       \
      "strd r6, r4, [r5]\n"                                                                  \
      "vmov r5, s27\n"                                                                       \
      "2:\n"                                                                                 \
      "ldm.w r5, {r0-r3, r11, pc}\n"                                                         \
      ".p2align 2\n"                                                                         \
      "3:\n"                                                                                 \
      "ldmia.w r12!, {r4, r5}\n" QUANTIZED_DSP_FOUR_BY("r4") QUANTIZED_DSP_FOUR_BY("r5")     \
      "vmov r4, s29\n"                                                                       \
      "bx r4\n"                                                                              \
      ".p2align 2\n"                                                                         \
      "1:\n" QUANTIZED_DSP_EIGHT_TAPS QUANTIZED_DSP_EIGHT_TAPS QUANTIZED_DSP_EIGHT_TAPS      \
          QUANTIZED_DSP_EIGHT_TAPS again                                                     \
      "vmov s0, s1, r0, r1\n"                                                                \
      "vmov s2, s3, r2, r3\n"                                                                \
      "vcvt.f32.s32 s0, s0\n"                                                                \
      "vcvt.f32.s32 s1, s1\n"                                                                \
      "vcvt.f32.s32 s2, s2\n"                                                                \
      "vcvt.f32.s32 s3, s3\n"                                                                \
      "vldmia sp, {s4-s7}\n"                                                                 \
      "vmla.f32 s4, s0, s20\n"                                                               \
      "vmla.f32 s5, s1, s21\n"                                                               \
      "vmla.f32 s6, s2, s22\n"                                                               \
      "vmla.f32 s7, s3, s23\n"                                                               \
      "vmov r0, r1, s4, s5\n"                                                                \
      "vmov r2, r3, s6, s7\n"                                                                \
      "pkhbt r0, r0, r2, lsl #16\n"                                                          \
      "pkhbt r1, r1, r3, lsl #16\n"                                                          \
      "usat16 r2, #8, r0\n"                                                                  \
      "usat16 r3, #8, r1\n"                                                                  \
      "ldrd r4, r5, [sp, #16]\n"                                                             \
      "orr r2, r2, r3, lsl #8\n"                                                             \
      "eor r2, r2, #0x80808080\n"                                                            \
      "str r2, [r4]\n"                                                                       \
      "add r4, r4, r5\n"                                                                     \
      "str r4, [sp, #16]\n" bits                                                             \
      "vmov r4, r5, s26, s27\n"                                                              \
      "cmp r12, r4\n"                                                                        \
      "bne.w 2b\n"                                                                           \
      "add sp, sp, #56\n"                                                                    \
      "vmov r7, s31\n"                                                                       \
      : "+r"(r0)                                                                             \
      :                                                                                      \
      : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "s0",     \
        "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s16", "s17", "s18", "s19", "s20", "s21",  \
        "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31", "cc",          \
        "memory")

#ifndef QUANTIZED_HELIUM /* conv_helium.h has its own */
/* Computes them, where there are such instructions, and returns whether it has. */
static QUANTIZED_DSP_ALONE int quantized_dsp_four(const quantized_dsp_group* g) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  register const quantized_dsp_group* r0 __asm__("r0") = g;
  if (g->bits) {
    QUANTIZED_DSP_FOUR_CHANNELS(QUANTIZED_DSP_FOUR_AGAIN, QUANTIZED_DSP_FOUR_BITS);
  } else if (g->w_end - g->w >= 80) {
    QUANTIZED_DSP_FOUR_CHANNELS(QUANTIZED_DSP_FOUR_AGAIN, "");
  } else { /* 36 taps at most */
    QUANTIZED_DSP_FOUR_CHANNELS("", "");
  }
  return 1;
#else
  (void)g;
  return 0;
#endif
}
#else
static int quantized_dsp_four(const quantized_dsp_group* g);
#endif
