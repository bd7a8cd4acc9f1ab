/* int8 arithmetic of quantized kernels: from an int32 sum to an int8 result. Plain C99 without
   libm: also emitted for devices.

   Two conventions. Float: y = round(float(sum) * scale) + zero point, halves to even. Fixed point:
   the reference kernels of TensorFlow Lite, with a multiplier of 31 bits and a shift. Source: Jacob
   et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
   Inference", 2018, and its library gemmlowp (fixedpoint.h). */
#ifndef THIMBLE_SIMD_REQUANTIZE_H_
#define THIMBLE_SIMD_REQUANTIZE_H_

#include <stddef.h>
#include <stdint.h>

/* A factor: scale of the float convention, or multiplier * 2^(shift - 31) of fixed point, with
   shift from -31 to 31. C sources in which nothing is of fixed point leave out its fields. */
typedef struct quantized_factor {
  float scale;
#if !defined(QUANTIZED_FACTOR_IS_SCALE)
  int32_t multiplier;
  int32_t shift;
#endif
} quantized_factor;

typedef struct quantized_result {
  int32_t fixed_point; /* 1: fixed point, 0: float */
  int32_t zero_point;
  int32_t low, high; /* bounds of y: those of int8, or of the activation */
} quantized_result;

/* Parameters of a kernel end with one factor per channel where they say so. */
#define QUANTIZED_FACTORS(dims) ((const quantized_factor*)(const void*)((dims) + 1))

static inline int32_t quantized_saturate(int64_t v) {
  return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static inline int8_t quantized_clamp(int64_t v, const quantized_result* o) {
  return (int8_t)(v < o->low ? o->low : v > o->high ? o->high : v);
}

/* The nearest integer, halves to even. Numbers beyond 512 become 512: every result is clamped to 8
   bits after a zero point of 8 bits is added. */
static inline int32_t quantized_nearest(float v) {
  const float bounded = v < -512.0F ? -512.0F : v > 512.0F ? 512.0F : v;
  const int32_t toward_zero = (int32_t)bounded;
  const float rest = bounded - (float)toward_zero; /* exact */
  const int32_t odd = toward_zero & 1;
  if (rest > 0.5F || (rest == 0.5F && odd)) return toward_zero + 1;
  if (rest < -0.5F || (rest == -0.5F && odd)) return toward_zero - 1;
  return toward_zero;
}

/* The upper half of 2ab, rounded; halves up. */
static inline int32_t quantized_high_product(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  const int64_t product = (int64_t)a * b;
  const int64_t nudge = product >= 0 ? (int64_t)1 << 30 : 1 - ((int64_t)1 << 30);
  return (int32_t)((product + nudge) / ((int64_t)1 << 31));
}

/* v / 2^exponent, rounded; halves away from zero. exponent: 0 to 62. */
static inline int32_t quantized_shift_down(int32_t v, int exponent) {
  const int64_t mask = ((int64_t)1 << exponent) - 1;
  const int64_t rest = v & mask;
  const int64_t threshold = (mask >> 1) + (v < 0 ? 1 : 0);
  return (int32_t)(((int64_t)v >> exponent) + (rest > threshold ? 1 : 0));
}

/* v * multiplier * 2^(shift - 31) in fixed point. What a left shift cannot hold saturates. */
static inline int32_t quantized_times_power(int32_t v, int32_t multiplier, int32_t shift) {
  if (shift > 0) {
    const int32_t shifted = quantized_saturate(v * ((int64_t)1 << shift));
    return quantized_high_product(shifted, multiplier);
  }
  return quantized_shift_down(quantized_high_product(v, multiplier), -shift);
}
static inline int32_t quantized_times(int32_t v, const quantized_factor* f) {
#if !defined(QUANTIZED_FACTOR_IS_SCALE)
  return quantized_times_power(v, f->multiplier, f->shift);
#else
  (void)f;
  return v; /* not called */
#endif
}

/* sum * factor + zero point, before it is brought within the bounds. Beyond 384 float may give
   another number as far away. */
static inline int64_t quantized_unbounded(int32_t sum, const quantized_factor* f,
                                          const quantized_result* o) {
  const int64_t v =
      o->fixed_point ? quantized_times(sum, f) : quantized_nearest((float)sum * f->scale);
  return v + o->zero_point;
}

/* sum * factor + zero point, within the bounds. */
static inline int8_t quantized_requantize(int32_t sum, const quantized_factor* f,
                                          const quantized_result* o) {
  return quantized_clamp(quantized_unbounded(sum, f, o), o);
}

/* Whether a number lies within the bounds: where it does, gradients pass. */
static inline int quantized_inside(int64_t v, const quantized_result* o) {
  return v >= o->low && v <= o->high;
}

/* Writes bit i of a bit mask; the bits before it are written already. */
static inline void quantized_add_bit(uint8_t* bits, ptrdiff_t i, int set) {
  if (i % 8 == 0) bits[i / 8] = 0;
  bits[i / 8] = (uint8_t)(bits[i / 8] | set << (i % 8));
}

#endif
