/* The functions of double that reference kernels need beside + - * /: factors of an optimizer's
   step and norms, once per tensor. Plain C99: also emitted for devices; in integers, as the
   functions of float are. */
#ifndef THIMBLE_OPS_MATH_DOUBLE_H_
#define THIMBLE_OPS_MATH_DOUBLE_H_

#include "ops/families/math/log.h"

static inline double math_double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline uint64_t math_double_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline double math_double_nan(void) {
  return math_double_of_bits(UINT64_C(0x7ff8000000000000));
}
static inline double math_double_infinity(void) {
  return math_double_of_bits(UINT64_C(0x7ff0000000000000));
}

/* |x| = v * 2^(e - 63), v from 2^63 on; x: neither 0, infinite nor NaN. */
static inline math_long math_long_of_double(double x) {
  const uint64_t bits = math_double_bits(x);
  const int exponent = (int)(bits >> 52 & 2047);
  const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  math_long l = {0, 0, 0};
  const uint64_t v = exponent == 0 ? fraction : fraction | UINT64_C(1) << 52;
  const int zeros = math_zeros(v << 11);
  l.v = v << 11 << zeros;
  l.e = (exponent == 0 ? 1 : exponent) - 1023 - zeros;
  l.negative = (int)(bits >> 63);
  return l;
}

/* v * 2^(e - 63) to the nearest, halves to even; v from 2^63 on. */
static inline double math_double_of(uint64_t v, int e) {
  const int cut = e >= -1022 ? 11 : -1011 - e;
  if (cut > 63) return 0.0;
  if (e > 1023) return math_double_infinity();
  const uint64_t half = (uint64_t)1 << (cut - 1);
  const uint64_t rest = v & (2 * half - 1);
  uint64_t kept = v >> cut;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  return math_double_of_bits(kept + (e >= -1022 ? (uint64_t)(e + 1022) << 52 : 0));
}

/* Rounded as IEEE 754 says. */
static inline double math_double_sqrt(double x) {
  const int exponent = (int)(math_double_bits(x) >> 52 & 2047);
  math_long l;
  int odd;
  if (x == 0.0 || x != x) return x;
  if (x < 0.0) return math_double_nan();
  if (exponent == 2047) return x;
  l = math_long_of_double(x);
  odd = l.e & 1;
  /* 55 bits: one more than rounding needs, and whether there are others. */
  return math_double_of(math_root_digits(l.v >> (1 - odd), 55) << 9, (l.e - odd) / 2);
}

/* 2^t; t: 51 bits behind the point. */
static inline double math_double_exp2(int64_t t) {
  const int64_t whole = (t + ((int64_t)1 << 50)) >> 51;
  const int64_t rest = (t - whole * ((int64_t)1 << 51)) * 1024;
  int64_t sum = math_exp2_double_table[14];
  for (int k = 13; k >= 0; --k) {
    sum = math_exp2_double_table[k] + math_fraction_product(rest, sum);
  }
  const int zeros = math_zeros((uint64_t)sum);
  return math_double_of((uint64_t)sum << zeros, (int)whole + 2 - zeros);
}

/* x to the power y, x at least 0; else NaN. The relative error is below 2^-39, and below 2^-48
   where the result is between 1/2 and 2. */
static inline double math_double_pow(double x, double y) {
  const double infinity = math_double_infinity();
  math_long base;
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y || x < 0.0) return math_double_nan();
  if (x == 0.0 || x == infinity) return (x == 0.0) == (y < 0.0) ? infinity : 0.0;
  if (y == infinity || y == -infinity) return (x > 1.0) == (y > 0.0) ? infinity : 0.0;
  base = math_long_of_double(x);
  return math_double_exp2(
      math_power_argument(math_long_of_double(y), math_log2_of(base.v, base.e), 51, 11));
}

#endif
