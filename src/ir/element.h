/* One element of any type: loading, storing and converting it, alike on every target. Plain C99:
   also emitted for devices. */
#ifndef THIMBLE_IR_ELEMENT_H_
#define THIMBLE_IR_ELEMENT_H_

#include <stdint.h>
#include <string.h>

/* In the order of DType. */
enum {
  ELEMENT_F32,
  ELEMENT_I8,
  ELEMENT_I32,
  ELEMENT_U8,
  ELEMENT_U32,
  ELEMENT_BOOL, /* packed: bit i % 8 of byte i / 8 */
  ELEMENT_F16,
  ELEMENT_BF16,
  ELEMENT_F64,
  ELEMENT_I64,
  ELEMENT_I16,
  ELEMENT_I4 /* packed: the low half of byte i / 2 for even i, else the high one */
};

static inline int element_is_floating(int type) {
  return type == ELEMENT_F32 || type == ELEMENT_F64 || type == ELEMENT_F16 || type == ELEMENT_BF16;
}

static inline uint32_t element_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float element_float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The upper half of the bits, to the nearest, ties to even. NaN stays NaN. */
static inline uint16_t element_float_to_bf16(float value) {
  const uint32_t bits = element_bits_of(value);
  if (value != value) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float element_bf16_to_float(uint16_t half) {
  return element_float_of((uint32_t)half << 16);
}

/* IEEE 754 binary16, to the nearest, ties to even. NaN stays NaN, with the upper bits of its
   fraction, and quiet, as by the instructions of x86 and Arm. */
static inline uint16_t element_float_to_f16(float value) {
  const uint32_t bits = element_bits_of(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t rest = bits & 0x7fffffff;
  if (value != value) return (uint16_t)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
  if (rest >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* from 65536 on */
  if (rest < 0x38800000) { /* below 2^-14: the sum with 1/2 rounds to a multiple of 2^-24 */
    rest = element_bits_of(element_float_of(rest) + 0.5f) - 0x3f000000;
    return (uint16_t)(sign | rest);
  }
  rest += 0xfff + (rest >> 13 & 1);
  return (uint16_t)(sign | (rest - 0x38000000) >> 13);
}

/* Exactly; NaN becomes quiet. */
static inline float element_f16_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  const uint32_t exponent = half & 0x7c00;
  const uint32_t rest = (uint32_t)(half & 0x7fff) << 13;
  if (exponent == 0x7c00) {
    const uint32_t quiet = (half & 0x3ff) != 0 ? 0x400000 : 0;
    return element_float_of(sign | (rest + 0x70000000) | quiet);
  }
  if (exponent == 0) { /* denormal: exact as the difference of two normal numbers */
    const float value = element_float_of(rest + 0x38800000) - element_float_of(0x38800000);
    return element_float_of(sign | element_bits_of(value));
  }
  return element_float_of(sign | (rest + 0x38000000));
}

/* The float towards 0 from value with its last bit set where that is not exact: rounding it to 16
   bits then gives what rounding value at once gives. Source: Boldo and Melquiond, "Emulation of a
   FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd", 2008. */
static inline float element_round_to_odd(double value) {
  const float near = (float)value;
  uint32_t bits = element_bits_of(near);
  const double back = (double)near;
  if (back == value || value != value) return near;
  if ((bits & 1) != 0 && (bits & 0x7f800000) != 0x7f800000) return near;
  if (value < 0 ? back < value : back > value) --bits; /* towards 0 */
  return element_float_of(bits | 1);
}

/* A double that rounds to every narrower type as value does. */
static inline double element_double_of(int64_t value) {
  uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (size >> 53 != 0) size = (size & ~(uint64_t)0x7ff) | ((size & 0x7ff) != 0 ? 0x800 : 0);
  return value < 0 ? -(double)size : (double)size;
}

/* Element i of an integer type. */
static inline int64_t element_load_int(const void* x, int type, ptrdiff_t i) {
  const uint8_t* const bytes = (const uint8_t*)x;
  switch (type) {
    case ELEMENT_I8:
      return ((const int8_t*)x)[i];
    case ELEMENT_I16:
      return ((const int16_t*)x)[i];
    case ELEMENT_I32:
      return ((const int32_t*)x)[i];
    case ELEMENT_I64:
      return ((const int64_t*)x)[i];
    case ELEMENT_U32:
      return ((const uint32_t*)x)[i];
    case ELEMENT_BOOL:
      return bytes[i / 8] >> (i % 8) & 1;
    case ELEMENT_I4:
      return ((bytes[i / 2] >> (i % 2 * 4) & 15) ^ 8) - 8;
    default:
      return bytes[i];
  }
}

/* Element i of a floating-point type, exactly. */
static inline double element_load_real(const void* x, int type, ptrdiff_t i) {
  switch (type) {
    case ELEMENT_F64:
      return ((const double*)x)[i];
    case ELEMENT_F16:
      return (double)element_f16_to_float(((const uint16_t*)x)[i]);
    case ELEMENT_BF16:
      return (double)element_bf16_to_float(((const uint16_t*)x)[i]);
    default:
      return (double)((const float*)x)[i];
  }
}

static inline int64_t element_clamped(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static inline void element_store_packed(void* y, int bits, ptrdiff_t i, int64_t value) {
  uint8_t* const byte = (uint8_t*)y + i * bits / 8;
  const int shift = (int)(i * bits % 8);
  const int mask = ((1 << bits) - 1) << shift;
  *byte = (uint8_t)((*byte & ~mask) | ((int)(value << shift) & mask));
}

/* Element i = the nearest number of its integer type; a boolean is whether value differs from 0. */
static inline void element_store_int(void* y, int type, ptrdiff_t i, int64_t value) {
  switch (type) {
    case ELEMENT_I8:
      ((int8_t*)y)[i] = (int8_t)element_clamped(value, -128, 127);
      break;
    case ELEMENT_I16:
      ((int16_t*)y)[i] = (int16_t)element_clamped(value, -32768, 32767);
      break;
    case ELEMENT_I32:
      ((int32_t*)y)[i] = (int32_t)element_clamped(value, INT32_MIN, INT32_MAX);
      break;
    case ELEMENT_I64:
      ((int64_t*)y)[i] = value;
      break;
    case ELEMENT_U32:
      ((uint32_t*)y)[i] = (uint32_t)element_clamped(value, 0, UINT32_MAX);
      break;
    case ELEMENT_BOOL:
      element_store_packed(y, 1, i, value != 0);
      break;
    case ELEMENT_I4:
      element_store_packed(y, 4, i, (int64_t)((uint64_t)element_clamped(value, -8, 7) & 15));
      break;
    default:
      ((uint8_t*)y)[i] = (uint8_t)element_clamped(value, 0, 255);
  }
}

/* Element i = the nearest number of its floating-point type, ties to even. */
static inline void element_store_real(void* y, int type, ptrdiff_t i, double value) {
  switch (type) {
    case ELEMENT_F64:
      ((double*)y)[i] = value;
      break;
    case ELEMENT_F16:
      ((uint16_t*)y)[i] = element_float_to_f16(element_round_to_odd(value));
      break;
    case ELEMENT_BF16:
      ((uint16_t*)y)[i] = element_float_to_bf16(element_round_to_odd(value));
      break;
    default:
      ((float*)y)[i] = (float)value;
  }
}

/* The integer next to value towards 0, within 64 bits; NaN is 0. */
static inline int64_t element_int_of(double value) {
  if (value != value) return 0;
  if (value >= 9223372036854775808.0) return INT64_MAX;
  if (value <= -9223372036854775808.0) return INT64_MIN;
  return (int64_t)value;
}

/* Copies count integers of one type from x[x_first] on to y[y_first] on. Of packed types they may
   begin within a byte; the other numbers of that byte of y stay. */
static inline void element_copy_ints(void* y, ptrdiff_t y_first, const void* x, ptrdiff_t x_first,
                                     int type, ptrdiff_t count) {
  for (ptrdiff_t i = 0; i < count; ++i) {
    element_store_int(y, type, y_first + i, element_load_int(x, type, x_first + i));
  }
}

/* y[i] in its type = x[i]. Floating point to integers: towards 0, then the nearest that the type
   can hold, NaN is 0. To a boolean: whether it differs from 0 (NaN does). To floating point: to the
   nearest, ties to even. */
static inline void element_convert(void* y, int to, const void* x, int from, ptrdiff_t i) {
  if (element_is_floating(from)) {
    const double value = element_load_real(x, from, i);
    if (element_is_floating(to)) {
      element_store_real(y, to, i, value);
    } else {
      element_store_int(y, to, i, to == ELEMENT_BOOL ? value != 0 : element_int_of(value));
    }
    return;
  }
  const int64_t value = element_load_int(x, from, i);
  if (!element_is_floating(to)) {
    element_store_int(y, to, i, value);
  } else if (to == ELEMENT_F64) {
    ((double*)y)[i] = (double)value;
  } else {
    element_store_real(y, to, i, element_double_of(value));
  }
}

#endif
