/* Trigonometric functions of float and their inverses. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_MATH_TRIG_H_
#define THIMBLE_OPS_MATH_TRIG_H_

#include "ops/families/math/tables.h"
#include "ops/families/math/wide.h"

/* |x| = (quadrant + f) pi/2 with f from -1/2 to 1/2. */
typedef struct math_angle {
  uint32_t quadrant; /* modulo 4 */
  math_wide f;
} math_angle;

/* w: at least 0, finite. The bits of 2/pi that make whole turns are left out, and 94 bits behind
   the point are kept: no float is closer to a multiple of pi/2 than 2^-30 of it. Source: Payne and
   Hanek, "Radian reduction for trigonometric functions", 1983. */
static inline math_angle math_angle_of(math_wide w) {
  math_angle angle = {0, {0, 0, 0}};
  if (w.e < -1) {
    const math_wide factor = {MATH_TWO_OVER_PI_M, MATH_TWO_OVER_PI_E, 0};
    angle.f = math_product(w, factor);
    return angle;
  }
  const uint64_t m = w.m >> 8;
  const int first = w.e + 7; /* bit of the table that counts as two quadrants */
  const uint32_t* word = math_two_over_pi_table + first / 32;
  const int shift = first % 32;
  uint32_t bits[3];
  for (int i = 0; i < 3; ++i) {
    bits[i] = shift == 0 ? word[i] : word[i] << shift | word[i + 1] >> (32 - shift);
  }
  const uint64_t low = m * bits[2];
  const uint64_t middle = m * bits[1] + (low >> 32);
  const uint64_t high = m * bits[0] + (middle >> 32);
  const uint64_t top = high << 32 | (uint32_t)middle;
  uint64_t rest = top << 2 | ((uint32_t)low >> 30);
  const int above = (int)(rest >> 63); /* the next quadrant is nearer */
  angle.quadrant = ((uint32_t)(top >> 62) + (uint32_t)above) & 3;
  if (above) rest = 0 - rest;
  angle.f = math_wide_of(rest, -1, above);
  return angle;
}

static inline math_wide math_sine_of(math_wide f) {
  const int32_t z = (int32_t)math_fixed(math_product(f, f), 32);
  return math_product(f, math_wide_of_fixed((uint32_t)math_polynomial(math_sin_table, 4, z), 30));
}
static inline math_wide math_cosine_of(math_wide f) {
  const int32_t z = (int32_t)math_fixed(math_product(f, f), 32);
  return math_wide_of_fixed((uint32_t)math_polynomial(math_cos_table, 5, z), 30);
}

static inline float math_sin(float x) {
  math_wide w;
  math_angle angle;
  if (math_is_nan(x) || math_is_infinite(x)) return math_nan();
  w = math_wide_of_float(x);
  angle = math_angle_of(math_scaled(w, 0, 0));
  const math_wide y = (angle.quadrant & 1) != 0 ? math_cosine_of(angle.f) : math_sine_of(angle.f);
  const int turned = (int)(angle.quadrant >> 1) != w.negative;
  return math_float_of(math_scaled(y, 0, y.negative != turned));
}

static inline float math_cos(float x) {
  math_angle angle;
  if (math_is_nan(x) || math_is_infinite(x)) return math_nan();
  angle = math_angle_of(math_scaled(math_wide_of_float(x), 0, 0));
  const math_wide y = (angle.quadrant & 1) != 0 ? math_sine_of(angle.f) : math_cosine_of(angle.f);
  const int turned = angle.quadrant == 1 || angle.quadrant == 2;
  return math_float_of(math_scaled(y, 0, y.negative != turned));
}

static inline float math_tan(float x) {
  math_wide w;
  math_angle angle;
  if (math_is_nan(x) || math_is_infinite(x)) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  angle = math_angle_of(math_scaled(w, 0, 0));
  const math_wide sine = math_sine_of(angle.f);
  const math_wide cosine = math_cosine_of(angle.f);
  const int odd = (angle.quadrant & 1) != 0;
  const math_wide y = odd ? math_quotient(cosine, sine) : math_quotient(sine, cosine);
  return math_float_of(math_scaled(y, 0, (y.negative != odd) != w.negative));
}

static inline math_wide math_pi(int halves) {
  const math_wide w = {MATH_HALF_PI_M, MATH_HALF_PI_E + halves - 1, 0};
  return w;
}

/* asin(w), |w| at most 1/2. */
static inline math_wide math_asin_of(math_wide w) {
  const int32_t z = (int32_t)math_fixed(math_product(w, w), 32);
  return math_product(w, math_wide_of_fixed((uint32_t)math_polynomial(math_asin_table, 8, z), 30));
}

/* acos(|w|) = 2 asin(sqrt((1 - |w|) / 2)), |w| from 1/2 to 1. */
static inline math_wide math_acos_of(math_wide w) {
  const math_wide rest = math_sum(math_one(0), math_scaled(w, 0, 1));
  const math_wide half = math_asin_of(math_root(math_scaled(rest, -1, 0)));
  return math_scaled(half, 1, 0);
}

static inline float math_asin(float x) {
  math_wide w;
  math_wide rest;
  if (math_is_nan(x) || x < -1.0F || x > 1.0F) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0) return x;
  if (w.e < -1) return math_float_of(math_asin_of(w));
  rest = math_acos_of(w);
  return math_float_of(math_scaled(math_sum(math_pi(1), math_scaled(rest, 0, 1)), 0, w.negative));
}

static inline float math_acos(float x) {
  math_wide w;
  math_wide y;
  if (math_is_nan(x) || x < -1.0F || x > 1.0F) return math_nan();
  w = math_wide_of_float(x);
  if (w.m == 0 || w.e < -1) {
    y = math_asin_of(w);
    return math_float_of(math_sum(math_pi(1), math_scaled(y, 0, !w.negative)));
  }
  y = math_acos_of(w);
  return math_float_of(w.negative ? math_sum(math_pi(2), math_scaled(y, 0, 1)) : y);
}

/* atan(a / b); both at least 0, not both 0. */
static inline math_wide math_atan_of(math_wide a, math_wide b) {
  const int over = math_is_less(b, a);
  const math_wide q = over ? math_quotient(b, a) : math_quotient(a, b);
  const uint32_t square = math_fixed(math_product(q, q), 31);
  const int32_t z = square > INT32_MAX ? INT32_MAX : (int32_t)square;
  const math_wide y =
      math_product(q, math_wide_of_fixed((uint32_t)math_polynomial(math_atan_table, 13, z), 30));
  return over ? math_sum(math_pi(1), math_scaled(y, 0, 1)) : y;
}

static inline float math_atan(float x) {
  math_wide w;
  if (math_is_nan(x)) return math_nan();
  w = math_wide_of_float(x);
  return math_float_of(math_scaled(math_atan_of(math_scaled(w, 0, 0), math_one(0)), 0, w.negative));
}

static inline float math_atan2(float y, float x) {
  math_wide a;
  math_wide b;
  math_wide angle = {0, 0, 0};
  if (math_is_nan(x) || math_is_nan(y)) return math_nan();
  a = math_wide_of_float(y);
  b = math_wide_of_float(x);
  if (a.m != 0) angle = math_atan_of(math_scaled(a, 0, 0), math_scaled(b, 0, 0));
  if (b.negative) angle = math_sum(math_pi(2), math_scaled(angle, 0, 1));
  return math_float_of(math_scaled(angle, 0, a.negative));
}

#endif
