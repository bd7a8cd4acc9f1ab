/* Softmax of int8 in integers, as TensorFlow Lite's reference kernels compute it. Plain C99: also
   emitted for devices. Numbers "of n.m" have n bits before the point and m behind. Source:
   gemmlowp, fixedpoint.h. */
#ifndef THIMBLE_OPS_INT8_SOFTMAX_H_
#define THIMBLE_OPS_INT8_SOFTMAX_H_

#include "ops/families/reduction/axis_dims.h"
#include "simd/requantize.h"

typedef struct quantized_softmax_dims {
  axis_dims along;
  int32_t multiplier; /* differences * 2^shift * multiplier / 2^31 are exponents of 5.26 */
  int32_t shift;      /* 0 to 31 */
  int32_t least;      /* difference; smaller ones count as exp(..) = 0 */
} quantized_softmax_dims;

/* x * 2^bits, within int32. */
static inline int32_t quantized_shift_up(int32_t x, int bits) {
  return quantized_saturate(x * ((int64_t)1 << bits));
}

/* exp(a) of 0.31 for a of 5.26, at most 0. */
static inline int32_t quantized_exp(int32_t a) {
  static const int32_t factors[] = {1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242};
  if (a == 0) return INT32_MAX;
  /* exp of the rest in [-1/4, 0) by a polynomial around -1/8, times exp(-2^k) for every bit. */
  const int32_t rest = (a & ((1 << 24) - 1)) - (1 << 24);
  const int32_t x = rest * 32 + (1 << 28);
  const int32_t x2 = quantized_high_product(x, x);
  const int32_t x3 = quantized_high_product(x2, x);
  const int32_t x4 = quantized_high_product(x2, x2);
  const int32_t tail = quantized_high_product(quantized_shift_down(x4, 2) + x3, 715827883);
  const int32_t t = quantized_shift_down(tail + x2, 1);
  int32_t e = 1895147668 + quantized_high_product(x + t, 1895147668);
  const int32_t bits = rest - a;
  for (int k = 0; k < 7; ++k) {
    if (bits & (1 << (24 + k))) e = quantized_high_product(e, factors[k]);
  }
  return e;
}

/* 1 / (1 + u) of 0.31 for u of 0.31, by three steps of Newton's method. */
static inline int32_t quantized_reciprocal(int64_t u) {
  const int32_t half = (int32_t)((u + ((int64_t)1 << 31)) >> 1);
  int32_t x = 1515870810 + quantized_high_product(half, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int32_t error = (1 << 29) - quantized_high_product(half, x);
    x += quantized_shift_up(quantized_high_product(x, error), 2);
  }
  return quantized_shift_up(x, 1);
}

/* exp of a number less the largest one, of 0.31. */
static inline int32_t quantized_softmax_exp(int32_t difference, const quantized_softmax_dims* d) {
  return quantized_exp(quantized_times_power(difference, d->multiplier, d->shift));
}

#endif
