/* The kernels of ref.h for Cortex-M with single precision, for the target cortex-m-dsp, with their
   results: four numbers at a time. */
#define ERROR_INT8_OWN_ROUNDING
#include "ops/error_int8/dims.h"

/* The largest of the bits of n numbers without their signs: those of NaN are the largest. */
static uint32_t error_dsp_most(const real* x, int n) {
  uint32_t most = 0; /* twice */
  for (const real* const end = x + n; x != end; ++x) {
    uint32_t bits;
    memcpy(&bits, x, sizeof bits);
    bits <<= 1;
    if (bits > most) most = bits;
  }
  return most >> 1;
}

/* y[i] = x[i] / unit to the nearest integer, halves to even, 0 for NaN. Returns for how many. */
static int error_dsp_divide(int8_t* y, const real* x, real unit, int n) {
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP)
  const int whole = n & ~3;
  if (whole > 0) {
    __asm__ volatile(
        "1:\n"
        "vldmia %[x]!, {s0-s3}\n"
        "vdiv.f32 s0, s0, %[unit]\n"
        "vdiv.f32 s1, s1, %[unit]\n"
        "vdiv.f32 s2, s2, %[unit]\n"
        "vdiv.f32 s3, s3, %[unit]\n"
        "vcvtr.s32.f32 s0, s0\n"
        "vcvtr.s32.f32 s1, s1\n"
        "vcvtr.s32.f32 s2, s2\n"
        "vcvtr.s32.f32 s3, s3\n"
        "vmov r4, r5, s0, s1\n"
        "strb r4, [%[y]], #1\n"
        "strb r5, [%[y]], #1\n"
        "vmov r4, r5, s2, s3\n"
        "strb r4, [%[y]], #1\n"
        "strb r5, [%[y]], #1\n"
        "cmp %[y], %[end]\n"
        "bne 1b\n"
        : [x] "+r"(x), [y] "+r"(y)
        : [unit] "t"(unit), [end] "r"(y + whole)
        : "r4", "r5", "s0", "s1", "s2", "s3", "cc", "memory");
  }
  return whole;
#else
  (void)y;
  (void)x;
  (void)unit;
  (void)n;
  return 0;
#endif
}

static real error_int8_most(real most, const real* x, int n) {
  const uint32_t bits = error_dsp_most(x, n);
  uint32_t before;
  memcpy(&before, &most, sizeof before);
  if (bits > before) memcpy(&most, &bits, sizeof most);
  return most;
}

static void error_int8_round(int8_t* y, const real* x, real unit, int n) {
  int i = 0;
  if (!(unit >= ERROR_LEAST_SCALE)) {
    for (; i < n; ++i) y[i] = 0;
    return;
  }
  for (i = error_dsp_divide(y, x, unit, n); i < n; ++i) {
    const real v = x[i] / unit;
    y[i] = (int8_t)(v == v ? quantized_nearest((float)v) : 0);
  }
}

static void error_to_int8_ref(int8_t* y, real* scale, const real* x, const error_int8_dims* d) {
  const real unit = error_int8_most(0, x, d->n) / 127;
  *scale = unit;
  error_int8_round(y, x, unit, d->n);
}

static void add_int8_error_ref(real* sum, const real* dx, const int8_t* y, const real* scale,
                               const error_int8_dims* d) {
  const real unit = *scale;
  int n = d->n;
#if defined(__ARM_FEATURE_DSP) && defined(__ARM_FP) && __ARM_ARCH_PROFILE == 'M'
  const int whole = n & ~3;
  if (whole > 0) {
    __asm__ volatile(
        "1:\n"
        "ldr r4, [%[y]], #4\n"
        "vldmia %[dx]!, {s0-s3}\n"
        "sxtb r5, r4\n"
        "sxtb r6, r4, ror #8\n"
        "vmov s4, s5, r5, r6\n"
        "sxtb r5, r4, ror #16\n"
        "asr r6, r4, #24\n"
        "vmov s6, s7, r5, r6\n"
        "vcvt.f32.s32 s4, s4\n"
        "vcvt.f32.s32 s5, s5\n"
        "vcvt.f32.s32 s6, s6\n"
        "vcvt.f32.s32 s7, s7\n"
        "vmla.f32 s0, s4, %[unit]\n"
        "vmla.f32 s1, s5, %[unit]\n"
        "vmla.f32 s2, s6, %[unit]\n"
        "vmla.f32 s3, s7, %[unit]\n"
        "vstmia %[sum]!, {s0-s3}\n"
        "cmp %[sum], %[end]\n"
        "bne 1b\n"
        : [sum] "+r"(sum), [dx] "+r"(dx), [y] "+r"(y)
        : [unit] "t"(unit), [end] "r"(sum + whole)
        : "r4", "r5", "r6", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc", "memory");
  }
  n -= whole;
#endif
  for (int i = 0; i < n; ++i) sum[i] = (real)y[i] * unit + dx[i];
}
