/* quantized_sum_grad for Cortex-M with single precision, in the place of the function of ref.h and
   with its results: eight channels at a time. */
#include "ops/quantized_sum_grad/column.h"
#include "ops/quantized_sum_grad/dims.h"

/* Number i of eight becomes 0 where its bit is not set. */
#define QUANTIZED_SUM_GRAD_BIT(bit, i) "tst r3, #" bit "\nit eq\nvmoveq.f32 s" i ", s24\n"
#define QUANTIZED_SUM_GRAD_ROW      \
  "add %[dy], %[dy], %[step]\n"     \
  "vmul.f32 s0, s0, s16\n"          \
  "vmul.f32 s1, s1, s17\n"          \
  "vmul.f32 s2, s2, s18\n"          \
  "vmul.f32 s3, s3, s19\n"          \
  "vmul.f32 s4, s4, s20\n"          \
  "vmul.f32 s5, s5, s21\n"          \
  "vmul.f32 s6, s6, s22\n"          \
  "vmul.f32 s7, s7, s23\n"          \
  "vstmia %[dsum], {s0-s7}\n"       \
  "add %[dsum], %[dsum], %[step]\n" \
  "vadd.f32 s8, s8, s0\n"           \
  "vadd.f32 s9, s9, s1\n"           \
  "vadd.f32 s10, s10, s2\n"         \
  "vadd.f32 s11, s11, s3\n"         \
  "vadd.f32 s12, s12, s4\n"         \
  "vadd.f32 s13, s13, s5\n"         \
  "vadd.f32 s14, s14, s6\n"         \
  "vadd.f32 s15, s15, s7\n"         \
  "subs %[n], %[n], #1\n"           \
  "bne 1b\n"

/* n rows, one or more, of eight channels, and their sums. bits: null, or the first byte, channels /
   8 bytes apart. */
static void quantized_sum_grad_eight(real* dsum, real* sums, const real* dy, const real* factors,
                                     const uint8_t* bits, int channels, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  memset(sums, 0, 8 * sizeof *sums);
  if (bits == 0) {
    __asm__ volatile(
        "vldmia %[sums], {s8-s15}\n"
        "vldmia %[factors], {s16-s23}\n"
        "1:\n"
        "vldmia %[dy], {s0-s7}\n" QUANTIZED_SUM_GRAD_ROW "vstmia %[sums], {s8-s15}\n"
        : [dsum] "+&r"(dsum), [dy] "+&r"(dy), [n] "+&r"(n)
        : [sums] "r"(sums), [factors] "r"(factors), [step] "r"((size_t)channels * sizeof *dy)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13",
          "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
  } else {
    __asm__ volatile(
        "vldmia %[sums], {s8-s15}\n"
        "vldmia %[factors], {s16-s23}\n"
        "vmov s24, %[zero]\n"
        "1:\n"
        "vldmia %[dy], {s0-s7}\n"
        "ldrb r3, [%[bits]]\n"
        "add %[bits], %[bits], %[step], lsr #5\n"
        "cmp r3, #255\n"
        "beq 2f\n"
        // clang-format off
        QUANTIZED_SUM_GRAD_BIT("1", "0") QUANTIZED_SUM_GRAD_BIT("2", "1")
        QUANTIZED_SUM_GRAD_BIT("4", "2") QUANTIZED_SUM_GRAD_BIT("8", "3")
        QUANTIZED_SUM_GRAD_BIT("16", "4") QUANTIZED_SUM_GRAD_BIT("32", "5")
        QUANTIZED_SUM_GRAD_BIT("64", "6") QUANTIZED_SUM_GRAD_BIT("128", "7")
        "2:\n"
        QUANTIZED_SUM_GRAD_ROW
        "vstmia %[sums], {s8-s15}\n"
        // clang-format on
        : [dsum] "+&r"(dsum), [dy] "+&r"(dy), [n] "+&r"(n), [bits] "+&r"(bits)
        : [sums] "r"(sums), [factors] "r"(factors), [step] "r"((size_t)channels * sizeof *dy),
          [zero] "r"(0)
        : "r3", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12",
          "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "cc",
          "memory");
  }
#else
  for (int j = 0; j < 8; ++j) {
    sums[j] = 0;
    for (int i = 0; i < n; ++i) {
      const ptrdiff_t at = (ptrdiff_t)i * channels + j;
      const int set = bits == 0 || (bits[(ptrdiff_t)i * channels / 8] >> j & 1) != 0;
      dsum[at] = (set ? dy[at] : 0) * factors[j];
      sums[j] += dsum[at];
    }
  }
#endif
}

static void quantized_sum_grad_ref(real* dsum, real* dbias, const real* dy, const real* factors,
                                   const uint8_t* bits, const quantized_sum_grad_dims* d) {
  const int channels = d->channels;
  /* A byte of bits for eight channels. */
  const int eights = bits == 0 || channels % 8 == 0 ? channels & ~7 : 0;
  memset(dbias, 0, sizeof *dbias * (size_t)channels);
  for (int begin = 0; begin < d->rows; begin += QUANTIZED_SUM_GRAD_BLOCK) {
    const int rest = d->rows - begin;
    const int rows = rest < QUANTIZED_SUM_GRAD_BLOCK ? rest : QUANTIZED_SUM_GRAD_BLOCK;
    const ptrdiff_t first = (ptrdiff_t)begin * channels;
    for (int c = 0; c < eights; c += 8) {
      real block[8];
      quantized_sum_grad_eight(dsum + first + c, block, dy + first + c, factors + c,
                               bits == 0 ? bits : bits + (first + c) / 8, channels, rows);
      for (int j = 0; j < 8; ++j) dbias[c + j] += block[j];
    }
    for (int c = eights; c < channels; ++c) {
      dbias[c] +=
          quantized_sum_grad_column(dsum, dy, factors[c], bits, c, channels, begin, begin + rows);
    }
  }
}
