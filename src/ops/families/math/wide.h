/* Numbers with 32 significant bits, in integers: what the functions of math.h compute with, before
   they round once to float. The same bits with every compiler and processor: there is no
   floating-point operation that could be contracted, reordered or flushed to 0. Plain C99: also
   emitted for devices. >> of a negative number must copy its sign, as every compiler of C does. */
#ifndef THIMBLE_OPS_MATH_WIDE_H_
#define THIMBLE_OPS_MATH_WIDE_H_

#include <stdint.h>
#include <string.h>

/* m * 2^(e - 31), negative where that is set. m: from 2^31 on, or 0 for 0. */
typedef struct math_wide {
  uint32_t m;
  int e;
  int negative;
} math_wide;

/* The exponent of infinity: beyond every result from finite numbers. */
#define MATH_INFINITE 4096

static inline uint32_t math_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float math_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline float math_nan(void) { return math_of_bits(0x7fc00000u); }
static inline float math_infinity(int negative) {
  return math_of_bits(negative ? 0xff800000u : 0x7f800000u);
}
static inline float math_zero(int negative) { return math_of_bits(negative ? 0x80000000u : 0); }
static inline int math_is_nan(float x) { return (math_bits(x) & 0x7fffffffu) > 0x7f800000u; }
static inline int math_is_infinite(float x) { return (math_bits(x) & 0x7fffffffu) == 0x7f800000u; }

/* Leading zeros of v > 0. */
static inline int math_zeros(uint64_t v) {
  int n = 0;
  for (int step = 32; step > 0; step /= 2) {
    if (v >> (64 - step) == 0) {
      n += step;
      v <<= step;
    }
  }
  return n;
}

/* v * 2^(e - 63), cut to 32 bits. */
static inline math_wide math_wide_of(uint64_t v, int e, int negative) {
  math_wide w = {0, 0, negative};
  if (v != 0) {
    const int zeros = math_zeros(v);
    w.m = (uint32_t)(v << zeros >> 32);
    w.e = e - zeros;
  }
  return w;
}

/* Not of NaN. */
static inline math_wide math_wide_of_float(float x) {
  const uint32_t bits = math_bits(x);
  const int negative = (int)(bits >> 31);
  const int exponent = (int)(bits >> 23 & 255);
  const uint32_t fraction = bits & 0x7fffff;
  if (exponent == 255) return math_wide_of((uint64_t)1 << 63, MATH_INFINITE, negative);
  if (exponent == 0) return math_wide_of((uint64_t)fraction << 40, -126, negative);
  return math_wide_of((uint64_t)(fraction | 0x800000) << 40, exponent - 127, negative);
}

/* To the nearest, halves to even; infinity where it is too large. */
static inline float math_float_of(math_wide w) {
  const uint32_t sign = w.negative ? 0x80000000u : 0;
  /* Bits below the last one of the float; more of them below the smallest normal number. */
  const int cut = w.e >= -126 ? 8 : -118 - w.e;
  if (w.m == 0 || cut > 32) return math_of_bits(sign);
  if (w.e > 127) return math_infinity(w.negative);
  const uint64_t half = (uint64_t)1 << (cut - 1);
  const uint64_t rest = w.m & (2 * half - 1);
  uint32_t kept = (uint32_t)((uint64_t)w.m >> cut);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  /* The bit above the fraction adds 1 to the exponent, as does a carry into it. */
  return math_of_bits(sign | (kept + (w.e >= -126 ? (uint32_t)(w.e + 126) << 23 : 0)));
}

static inline math_wide math_one(int negative) {
  const math_wide one = {0x80000000u, 0, negative};
  return one;
}

/* A number of `bits` bits behind the point, at least 0. */
static inline math_wide math_wide_of_fixed(uint32_t v, int bits) {
  return math_wide_of((uint64_t)v << 32, 31 - bits, 0);
}

/* |w| with `bits` bits behind the point, for what fits. */
static inline uint32_t math_fixed(math_wide w, int bits) {
  const int shift = 31 - bits - w.e;
  return w.m == 0 || shift > 31 ? 0 : w.m >> shift;
}
static inline int32_t math_signed_fixed(math_wide w, int bits) {
  const int32_t v = (int32_t)math_fixed(w, bits);
  return w.negative ? -v : v;
}

/* |w| * 2^power. */
static inline math_wide math_scaled(math_wide w, int power, int negative) {
  w.e += power;
  w.negative = negative;
  return w;
}

static inline math_wide math_product(math_wide a, math_wide b) {
  return math_wide_of((uint64_t)a.m * b.m, a.e + b.e + 1, a.negative != b.negative);
}

/* b: not 0. */
static inline math_wide math_quotient(math_wide a, math_wide b) {
  const uint64_t q = ((uint64_t)a.m << 32) / b.m;
  return math_wide_of(q << 30, a.e - b.e + 1, a.negative != b.negative);
}

/* Whether |a| < |b|. */
static inline int math_is_less(math_wide a, math_wide b) {
  if (a.m == 0 || b.m == 0) return b.m != 0;
  return a.e < b.e || (a.e == b.e && a.m < b.m);
}

/* The sum is v * 2^(e - 63), with up to 63 bits. */
typedef struct math_long {
  uint64_t v;
  int e;
  int negative;
} math_long;

static inline math_long math_long_sum(math_wide a, math_wide b) {
  math_long sum = {0, 0, 0};
  if (math_is_less(a, b)) {
    const math_wide other = a;
    a = b;
    b = other;
  }
  const int distance = a.e - b.e;
  const uint64_t small = b.m == 0 || distance > 62 ? 0 : (uint64_t)b.m << 31 >> distance;
  sum.v = (uint64_t)a.m << 31;
  sum.v = a.negative == b.negative ? sum.v + small : sum.v - small;
  sum.e = a.e + 1;
  sum.negative = a.negative;
  return sum;
}

static inline math_wide math_sum(math_wide a, math_wide b) {
  const math_long sum = math_long_sum(a, b);
  return math_wide_of(sum.v, sum.e, sum.negative);
}

/* The first `digits` bits of the square root of v; each follows from two bits of v. The last one is
   set where the root is not exact, so that it rounds well. v: from 2^62 on. */
static inline uint64_t math_root_digits(uint64_t v, int digits) {
  uint64_t rest = 0;
  uint64_t root = 0;
  for (int i = 0; i < digits; ++i) {
    const uint64_t trial = root << 2 | 1;
    rest = rest << 2 | v >> 62;
    v <<= 2;
    root <<= 1;
    if (rest >= trial) {
      rest -= trial;
      root |= 1;
    }
  }
  return root | (rest != 0);
}

/* w: at least 0. */
static inline math_wide math_root(math_wide w) {
  const int odd = w.e & 1;
  if (w.m == 0) return w;
  const math_wide root = {(uint32_t)math_root_digits((uint64_t)w.m << (31 + odd), 32),
                          (w.e - odd) / 2, 0};
  return root;
}

/* c[0] + c[1] z + ... c[degree] z^degree, with the bits behind the point that c has; z: 31. */
static inline int32_t math_polynomial(const int32_t* c, int degree, int32_t z) {
  int32_t sum = c[degree];
  for (int k = degree - 1; k >= 0; --k) {
    sum = c[k] + (int32_t)(((int64_t)sum * z + ((int64_t)1 << 30)) >> 31);
  }
  return sum;
}

/* The upper half of a product. */
static inline uint64_t math_high_product(uint64_t a, uint64_t b) {
  const uint64_t a_low = (uint32_t)a, a_high = a >> 32;
  const uint64_t b_low = (uint32_t)b, b_high = b >> 32;
  const uint64_t middle = a_high * b_low + (a_low * b_low >> 32);
  const uint64_t other = a_low * b_high + (uint32_t)middle;
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

/* a b, all with 61 bits behind the point; |a| < 1, |b| < 4. */
static inline int64_t math_fraction_product(int64_t a, int64_t b) {
  const uint64_t size =
      math_high_product((uint64_t)(a < 0 ? -a : a) << 3, (uint64_t)(b < 0 ? -b : b));
  return (a < 0) != (b < 0) ? -(int64_t)size : (int64_t)size;
}

#endif
