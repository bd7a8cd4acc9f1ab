/* Logarithms of float, what is made of them, and powers. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_MATH_LOG_H_
#define THIMBLE_OPS_MATH_LOG_H_

#include "ops/families/math/exact.h"
#include "ops/families/math/exp.h"

/* A logarithm to base 2: whole + rest, the latter with 61 bits behind the point and of a size of at
   most 1/2, so that it keeps its digits around 0. */
typedef struct math_logarithm {
  int whole;
  int64_t rest;
} math_logarithm;

/* log2(m * 2^(e - 63)); m: from 2^63 on. m times an entry of a table is 1 + r with |r| < 1/32, and
   log(1 + r) = r (1 - r (1/2 - r (1/3 - r (1/4 - ...)))). */
static inline math_logarithm math_log2_of(uint64_t m, int e) {
  const int part = (int)(m >> 58 & 31);
  const int64_t one = (int64_t)1 << 61;
  const int64_t r = ((int64_t)((m >> 9) * math_inverse_table[part]) - 2 * one) / 2;
  const int32_t tail = math_polynomial(math_log_tail_table, 5, (int32_t)(r >> 26));
  math_logarithm log;
  int64_t share = one / 4 - math_fraction_product(r, (int64_t)tail * ((int64_t)1 << 30));
  share = one / 3 - math_fraction_product(r, share);
  share = one / 2 - math_fraction_product(r, share);
  share = math_fraction_product(r, share);
  log.rest =
      math_fraction_product(r - math_fraction_product(r, share), (int64_t)(MATH_LOG2_E >> 2));
  log.rest += math_log2_table[part];
  log.whole = e + (part >= MATH_LOG_SPLIT);
  return log;
}

/* v * 2^(e - 63) from a logarithm; v has no leading zeros where whole is 0. */
static inline math_long math_long_of_log(math_logarithm log) {
  const int64_t total =
      log.whole == 0 ? log.rest : log.whole * ((int64_t)1 << 52) + log.rest / ((int64_t)1 << 9);
  const uint64_t size = (uint64_t)(total < 0 ? -total : total);
  math_long l = {size, log.whole == 0 ? 2 : 11, total < 0};
  if (size != 0) {
    const int zeros = math_zeros(size);
    l.v <<= zeros;
    l.e -= zeros;
  }
  return l;
}

static inline math_wide math_wide_of_log(math_logarithm log) {
  const math_long l = math_long_of_log(log);
  return math_wide_of(l.v, l.e, l.negative);
}

static inline math_wide math_ln2(void) {
  const math_wide w = {MATH_LN_2_M, MATH_LN_2_E, 0};
  return w;
}

/* The logarithm to base 2 of x times the factor, where x has one. */
static inline float math_log_by(float x, math_wide factor) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return math_infinity(1);
  if (w.negative) return math_nan();
  if (w.e == MATH_INFINITE) return x;
  return math_float_of(
      math_product(math_wide_of_log(math_log2_of((uint64_t)w.m << 32, w.e)), factor));
}

static inline float math_log(float x) { return math_log_by(x, math_ln2()); }
static inline float math_log2(float x) { return math_log_by(x, math_one(0)); }
static inline float math_log10(float x) {
  const math_wide factor = {MATH_LOG10_2_M, MATH_LOG10_2_E, 0};
  return math_log_by(x, factor);
}

/* log(1 + w); w > -1. */
static inline math_wide math_log1p_of(math_wide w) {
  math_long sum;
  int zeros;
  if (w.m == 0) return w;
  if (w.e < -5) { /* w (1 - w (1/2 - w/3 + ...)) */
    const int32_t z = math_signed_fixed(w, 35);
    const int32_t share = math_polynomial(math_log1p_table, 6, z);
    const int64_t factor = ((int64_t)1 << 31) - (((int64_t)share * z) >> 35);
    return math_product(w, math_wide_of_fixed((uint32_t)factor, 31));
  }
  sum = math_long_sum(w, math_one(0));
  zeros = math_zeros(sum.v);
  return math_product(math_wide_of_log(math_log2_of(sum.v << zeros, sum.e - zeros)), math_ln2());
}

static inline float math_log1p(float x) {
  if (math_is_nan(x) || x < -1.0F) return math_nan();
  if (x == -1.0F) return math_infinity(1);
  if (math_is_infinite(x)) return x;
  return math_float_of(math_log1p_of(math_wide_of_float(x)));
}

/* log(1 + x + x^2 / (1 + sqrt(1 + x^2))) */
static inline float math_asinh(float x) {
  math_wide w;
  math_wide square;
  math_wide root;
  if (math_is_nan(x)) return math_nan();
  if (math_is_infinite(x)) return x;
  w = math_scaled(math_wide_of_float(x), 0, 0);
  square = math_product(w, w);
  root = math_sum(math_root(math_sum(square, math_one(0))), math_one(0));
  w = math_log1p_of(math_sum(w, math_quotient(square, root)));
  return math_float_of(math_scaled(w, 0, (int)(math_bits(x) >> 31)));
}

/* log(1 + t + sqrt(t (t + 2))) with t = x - 1. */
static inline float math_acosh(float x) {
  math_wide t;
  math_wide root;
  if (math_is_nan(x) || x < 1.0F) return math_nan();
  if (math_is_infinite(x)) return x;
  t = math_sum(math_wide_of_float(x), math_one(1));
  root = math_root(math_product(t, math_sum(t, math_scaled(math_one(0), 1, 0))));
  return math_float_of(math_log1p_of(math_sum(t, root)));
}

/* log(1 + 2 x / (1 - x)) / 2 */
static inline float math_atanh(float x) {
  math_wide w;
  math_wide rest;
  if (math_is_nan(x) || x < -1.0F || x > 1.0F) return math_nan();
  w = math_scaled(math_wide_of_float(x), 0, 0);
  rest = math_sum(math_one(0), math_scaled(w, 0, 1));
  if (rest.m == 0) return math_infinity(x < 0.0F);
  w = math_log1p_of(math_quotient(math_scaled(w, 1, 0), rest));
  return math_float_of(math_scaled(w, -1, (int)(math_bits(x) >> 31)));
}

/* y log2(x) from both, with `bits` bits behind the point; of a size below 2^limit, at which it
   stays. y: v * 2^(e - 63), v from 2^63 on. */
static inline int64_t math_power_argument(math_long y, math_logarithm log, int bits, int limit) {
  const math_long l = math_long_of_log(log);
  const int shift = 62 - y.e - l.e - bits;
  int64_t t = 0;
  if (l.v == 0) return 0;
  if (y.e + l.e + 2 > limit) {
    t = (int64_t)1 << (bits + limit);
  } else if (shift < 64) {
    t = (int64_t)(math_high_product(y.v, l.v) >> shift);
  }
  return y.negative != l.negative ? -t : t;
}

/* 0: y is no whole number, 1: odd, 2: even. */
static inline int math_parity(float y) {
  const uint32_t bits = math_bits(y);
  const int exponent = (int)(bits >> 23 & 255) - 127;
  const uint32_t m = (bits & 0x7fffff) | 0x800000;
  if ((bits & 0x7fffffffu) == 0 || exponent > 23) return 2;
  if (exponent < 0 || (m & math_fraction_mask(exponent)) != 0) return 0;
  return (m >> (23 - exponent) & 1) != 0 ? 1 : 2;
}

static inline float math_pow(float x, float y) {
  const int odd = math_parity(y) == 1;
  const int negative = odd && (math_bits(x) >> 31) != 0;
  math_wide base;
  math_wide w;
  math_long exponent;
  if (x == 1.0F || y == 0.0F) return 1.0F;
  if (math_is_nan(x) || math_is_nan(y)) return math_nan();
  base = math_wide_of_float(x);
  w = math_wide_of_float(y);
  if (w.e == MATH_INFINITE) { /* of |x| below, at or above 1 */
    const int below = base.m == 0 || base.e < 0;
    if (base.e == 0 && base.m == 0x80000000u) return 1.0F;
    return below == w.negative ? math_infinity(0) : 0.0F;
  }
  if (base.m == 0) return w.negative ? math_infinity(negative) : math_zero(negative);
  if (base.e == MATH_INFINITE) return w.negative ? math_zero(negative) : math_infinity(negative);
  if (base.negative && math_parity(y) == 0) return math_nan();
  exponent.v = (uint64_t)w.m << 32;
  exponent.e = w.e;
  exponent.negative = w.negative;
  w = math_exp2_of(
      math_power_argument(exponent, math_log2_of((uint64_t)base.m << 32, base.e), 32, 20));
  return math_float_of(math_scaled(w, 0, negative));
}

#endif
