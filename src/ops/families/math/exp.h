/* Exponentials of float and what is made of them. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_MATH_EXP_H_
#define THIMBLE_OPS_MATH_EXP_H_

#include "ops/families/math/tables.h"
#include "ops/families/math/wide.h"

/* 2^t; t: 32 bits behind the point, of a size below 2^30. */
static inline math_wide math_exp2_of(int64_t t) {
  const int64_t whole = (t + ((int64_t)1 << 31)) >> 32;
  const int32_t z = (int32_t)(t - whole * ((int64_t)1 << 32)); /* twice the rest, 31 bits */
  const int32_t slope = math_polynomial(math_exp2_table, 6, z);
  const int64_t change = ((int64_t)slope * z + ((int64_t)1 << 30)) >> 31;
  return math_wide_of((uint64_t)(((int64_t)1 << 31) + change) << 32, (int)whole, 0);
}

/* w log2(e), 32 bits behind the point; |w| < 128. */
static inline int64_t math_exp_argument(math_wide w) {
  const int shift = 30 - w.e;
  const uint64_t product = math_high_product((uint64_t)w.m << 32, MATH_LOG2_E);
  const int64_t t = shift > 63 ? 0 : (int64_t)(product >> shift);
  return w.negative ? -t : t;
}

/* e^w - 1; |w| < 128. */
static inline math_wide math_expm1_of(math_wide w) {
  if (w.e < -1) {
    const int32_t share = math_polynomial(math_expm1_table, 8, math_signed_fixed(w, 32));
    return math_product(w, math_wide_of_fixed((uint32_t)share, 30));
  }
  return math_sum(math_exp2_of(math_exp_argument(w)), math_one(1));
}

static inline float math_exp(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.e >= 7 && w.m != 0) return w.negative ? 0.0F : math_infinity(0);
  return math_float_of(math_exp2_of(math_exp_argument(w)));
}

static inline float math_exp2(float x) {
  math_wide w;
  int64_t t;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.e >= 8 && w.m != 0) return w.negative ? 0.0F : math_infinity(0);
  t = w.e >= -1 ? (int64_t)w.m << (w.e + 1) : -1 - w.e > 31 ? 0 : w.m >> (-1 - w.e);
  return math_float_of(math_exp2_of(w.negative ? -t : t));
}

static inline float math_expm1(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.e >= 7) return w.negative ? -1.0F : math_infinity(0);
  return math_float_of(math_expm1_of(w));
}

/* (e^w + e^-w) / 2, or their difference by 2; |w| < 128. */
static inline math_wide math_half_sum(math_wide w, int difference) {
  const int64_t t = math_exp_argument(math_scaled(w, 0, 0));
  const math_wide small = math_scaled(math_exp2_of(-t), 0, difference);
  const math_wide sum = math_sum(math_exp2_of(t), small);
  return math_scaled(sum, -1, difference && w.negative);
}

static inline float math_sinh(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.e >= 7) return math_infinity(w.negative);
  if (w.e < 0) {
    const int32_t z = (int32_t)math_fixed(math_product(w, w), 31);
    const int32_t share = math_polynomial(math_sinh_table, 4, z);
    return math_float_of(math_product(w, math_wide_of_fixed((uint32_t)share, 30)));
  }
  return math_float_of(math_half_sum(w, 1));
}

static inline float math_cosh(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.e >= 7 && w.m != 0) return math_infinity(0);
  return math_float_of(math_half_sum(w, 0));
}

/* u / (u + 2) with u = e^2x - 1. */
static inline float math_tanh(float x) {
  math_wide w;
  math_wide u;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.e >= 4) return w.negative ? -1.0F : 1.0F;
  u = math_expm1_of(math_scaled(w, 1, 0));
  u = math_quotient(u, math_sum(u, math_scaled(math_one(0), 1, 0)));
  return math_float_of(math_scaled(u, 0, w.negative));
}

#endif
