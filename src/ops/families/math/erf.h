/* The error function of float. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_MATH_ERF_H_
#define THIMBLE_OPS_MATH_ERF_H_

#include "ops/families/math/exp.h"

/* erf(w), |w| < 1/2. */
static inline math_wide math_erf_of(math_wide w) {
  const int32_t z = (int32_t)math_fixed(math_product(w, w), 32);
  return math_product(w, math_wide_of_fixed((uint32_t)math_polynomial(math_erf_table, 5, z), 30));
}

/* erfc(w) = e^(-w^2) t q(t) with t = 2 / (w + 2); w from 1/2 to below 16. */
static inline math_wide math_erfc_of(math_wide w) {
  const math_wide two = math_scaled(math_one(0), 1, 0);
  const math_wide t = math_quotient(two, math_sum(w, two));
  /* 3 t - 1.45 with 31 bits behind the point; the float of the smallest result is below 11. */
  int64_t z = 3 * (int64_t)math_fixed(t, 31) - INT64_C(3113851290);
  if (z < -INT64_C(2061584302)) z = -INT64_C(2061584302);
  const int32_t q = math_polynomial(math_erfc_table, 13, (int32_t)z);
  const uint64_t square = (uint64_t)w.m * w.m; /* exact */
  const int64_t exponent = (int64_t)(math_high_product(square, MATH_LOG2_E) >> (29 - 2 * w.e));
  return math_product(math_exp2_of(-exponent),
                      math_product(t, math_wide_of_fixed((uint32_t)q, 31)));
}

/* 1 - w, or 1 + w. */
static inline math_wide math_rest_of(math_wide w, int negative) {
  return math_sum(math_one(0), math_scaled(w, 0, negative));
}

static inline float math_erf(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.e < -1) return math_float_of(math_erf_of(w));
  if (w.e >= 3) return w.negative ? -1.0F : 1.0F;
  return math_float_of(
      math_scaled(math_rest_of(math_erfc_of(math_scaled(w, 0, 0)), 1), 0, w.negative));
}

static inline float math_erfc(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return 1.0F;
  if (w.e < -1) return math_float_of(math_rest_of(math_erf_of(w), !w.negative));
  if (w.e >= 4) return w.negative ? 2.0F : 0.0F;
  if (w.negative) {
    const math_wide tail = math_erfc_of(math_scaled(w, 0, 0));
    return math_float_of(math_sum(math_scaled(math_one(0), 1, 0), math_scaled(tail, 0, 1)));
  }
  return math_float_of(math_erfc_of(w));
}

#endif
