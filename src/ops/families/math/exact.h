/* Functions of float whose results are exact, or rounded once as IEEE 754 says. Plain C99: also
   emitted for devices. */
#ifndef THIMBLE_OPS_MATH_EXACT_H_
#define THIMBLE_OPS_MATH_EXACT_H_

#include "ops/families/math/wide.h"

static inline float math_fabs(float x) { return math_of_bits(math_bits(x) & 0x7fffffffu); }

/* The other one where one is NaN; the second of equal ones. */
static inline float math_fmax(float a, float b) { return a > b || b != b ? a : b; }
static inline float math_fmin(float a, float b) { return a < b || b != b ? a : b; }

/* The bits of x below 1, which has at least 0 and less than 23 bits above. */
static inline uint32_t math_fraction_mask(int exponent) { return 0x7fffffu >> exponent; }

static inline float math_trunc(float x) {
  const uint32_t bits = math_bits(x);
  const int exponent = (int)(bits >> 23 & 255) - 127;
  if (exponent >= 23) return x;
  if (exponent < 0) return math_zero((int)(bits >> 31));
  return math_of_bits(bits & ~math_fraction_mask(exponent));
}

/* Whether trunc has changed x. */
static inline int math_is_cut(float x) { return math_bits(math_trunc(x)) != math_bits(x); }

static inline float math_floor(float x) {
  const float whole = math_trunc(x);
  return math_is_cut(x) && (math_bits(x) >> 31) != 0 ? whole - 1.0F : whole;
}

static inline float math_ceil(float x) {
  const float whole = math_trunc(x);
  return math_is_cut(x) && (math_bits(x) >> 31) == 0 ? whole + 1.0F : whole;
}

/* To the nearest, halves to even. */
static inline float math_rint(float x) {
  const uint32_t bits = math_bits(x);
  const int exponent = (int)(bits >> 23 & 255) - 127;
  if (exponent >= 23) return x;
  if (exponent < 0) { /* 1 from above 1/2 on */
    const uint32_t size = (bits & 0x7fffffffu) > 0x3f000000u ? 0x3f800000u : 0;
    return math_of_bits((bits & 0x80000000u) | size);
  }
  const uint32_t mask = math_fraction_mask(exponent);
  const uint32_t odd = bits >> (23 - exponent) & 1; /* of 1 it is the exponent's last bit: 1, too */
  return math_of_bits((bits + (mask >> 1) + odd) & ~mask);
}

/* In integers. */
static inline float math_integer_sqrt(float x) {
  math_wide w;
  if (math_is_nan(x)) return x;
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.negative) return math_nan();
  if (w.e == MATH_INFINITE) return x;
  return math_float_of(math_root(w));
}

/* By the processor's instruction where it has one: both round as IEEE 754 says. */
static inline float math_sqrt(float x) {
#if defined(__GNUC__) && defined(__SSE2__)
  float y;
  if (x < 0.0F) return math_nan();
  __asm__("sqrtss %1, %0" : "=x"(y) : "x"(x));
  return y;
#elif defined(__GNUC__) && defined(__aarch64__)
  float y;
  if (x < 0.0F) return math_nan();
  __asm__("fsqrt %s0, %s1" : "=w"(y) : "w"(x));
  return y;
#elif defined(__GNUC__) && defined(__ARM_FP) && (__ARM_FP & 4) && !defined(__SOFTFP__)
  float y;
  if (x < 0.0F) return math_nan();
  __asm__("vsqrt.f32 %0, %1" : "=t"(y) : "t"(x));
  return y;
#elif defined(__GNUC__) && defined(__riscv_flen) && defined(__riscv_fsqrt)
  float y;
  if (x < 0.0F) return math_nan();
  __asm__("fsqrt.s %0, %1" : "=f"(y) : "f"(x));
  return y;
#else
  return math_integer_sqrt(x);
#endif
}

/* x less a whole number of y, of the sign of x. */
static inline float math_fmod(float x, float y) {
  const uint32_t x_bits = math_bits(x) & 0x7fffffffu;
  const uint32_t y_bits = math_bits(y) & 0x7fffffffu;
  if (x_bits >= 0x7f800000u || y_bits > 0x7f800000u || y_bits == 0) return math_nan();
  if (x_bits < y_bits) return x;
  const int x_exponent = (int)(x_bits >> 23), y_exponent = (int)(y_bits >> 23);
  const uint32_t divisor = y_exponent > 0 ? (y_bits & 0x7fffff) | 0x800000 : y_bits;
  uint32_t rest = (x_exponent > 0 ? (x_bits & 0x7fffff) | 0x800000 : x_bits) % divisor;
  const int least = y_exponent > 0 ? y_exponent : 1;
  for (int left = (x_exponent > 0 ? x_exponent : 1) - least; left > 0;) {
    const int step = left < 8 ? left : 8;
    rest = (rest << step) % divisor;
    left -= step;
  }
  return math_float_of(math_wide_of((uint64_t)rest << 40, least - 127, (int)(math_bits(x) >> 31)));
}

#endif
