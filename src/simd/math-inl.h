// Functions on vectors of floats, valid for every float, including denormals, infinities and NaN.
// The largest errors that tests/simd/elementwise_test.cpp allows are given with each function, in
// units in the last place. Included once per vector target.
//
// Coefficients are those of polynomials with the least relative error (Remez exchange in 40 digits)
// for the functions and intervals named beside them, unless another source is given.

#if defined(THIMBLE_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_MATH_INL_H_
#undef THIMBLE_SIMD_MATH_INL_H_
#else
#define THIMBLE_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <limits>

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using I32 = hn::RebindToSigned<F32>;
using IntVec = hn::Vec<I32>;

// The maximum and minimum instructions of x86 return their second operand if one is NaN.
#undef THIMBLE_SECOND_IF_NAN
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#define THIMBLE_SECOND_IF_NAN 1
#else
#define THIMBLE_SECOND_IF_NAN 0
#endif

// max(x, least); NaN stays NaN.
HWY_INLINE Vec at_least(Vec least, Vec x) {
#if THIMBLE_SECOND_IF_NAN
  return hn::Max(least, x);
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

// min(x, most); NaN stays NaN.
HWY_INLINE Vec at_most(Vec most, Vec x) {
#if THIMBLE_SECOND_IF_NAN
  return hn::Min(most, x);
#else
  return hn::IfThenElse(hn::Gt(x, most), most, x);
#endif
}

// 2^n, -127 < n < 128.
HWY_INLINE Vec power_of_two(IntVec n) {
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(I32(), 127))));
}

// An integer in both representations.
struct Whole {
  Vec number;
  IntVec integer;
};

// Rounds x to the nearest integer, |x| < 2^22.
HWY_INLINE Whole round_to_whole(Vec x) {
  const F32 f;
  const I32 i;
  // Adding 1.5 * 2^23 rounds x and leaves the integer in the lowest bits.
  const Vec shift = hn::Set(f, 12582912.0F);
  const Vec rounded = hn::Add(x, shift);
  return {hn::Sub(rounded, shift), hn::Sub(hn::BitCast(i, rounded), hn::BitCast(i, shift))};
}

// v 2^n, |n| <= 250.
HWY_INLINE Vec scale(Vec v, Whole n) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return Vec{_mm512_scalef_ps(v.raw, n.number.raw)};
#else
  // Two factors, because 2^n itself may overflow or underflow.
  const IntVec half = hn::ShiftRight<1>(n.integer);
  return hn::Mul(hn::Mul(v, power_of_two(half)), power_of_two(hn::Sub(n.integer, half)));
#endif
}

// e^r - 1, |r| < 0.43; relative error of e^r 3.1e-9 up to ln 2 / 2, 1.5e-8 beyond.
HWY_INLINE Vec expm1_small(Vec r) {
  const F32 f;
  // (e^r - 1 - r) / r^2
  Vec q = hn::MulAdd(r, hn::Set(f, 0.00138141731F), hn::Set(f, 0.00836892183F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.0416684080F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.166665189F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.499999933F));
  return hn::MulAdd(hn::Mul(r, r), q, r);
}

// x = n ln 2 + r with |r| <= ln 2 / 2. Source: Cody and Waite, "Software manual for the elementary
// functions", 1980.
struct Reduced {
  Whole n;
  Vec r;
};

// -104 <= x <= 104, or NaN.
HWY_INLINE Reduced reduce_exp(Vec x) {
  const F32 f;
  const Whole n = round_to_whole(hn::Mul(x, hn::Set(f, 1.44269504F)));
  // ln 2 as a sum of two numbers; the product with the first is exact.
  const Vec r = hn::NegMulAdd(n.number, hn::Set(f, 0.693145751953125F), x);
  return {n, hn::NegMulAdd(n.number, hn::Set(f, 1.42860677e-6F), r)};
}

// e^x for x <= 104 or NaN; 1 ulp.
HWY_INLINE Vec exp_below(Vec x) {
  const F32 f;
  const Reduced e = reduce_exp(at_least(hn::Set(f, -104.0F), x));
  return scale(hn::Add(expm1_small(e.r), hn::Set(f, 1.0F)), e.n);
}

// e^x; 1 ulp.
HWY_INLINE Vec exp(Vec x) {
  const Vec most = hn::Set(F32(), 104.0F);  // the result is already infinite
  return exp_below(at_most(most, x));
}

// e^x - 1 for x <= 0 or NaN; 2 ulp.
HWY_INLINE Vec expm1_negative(Vec x) {
  const F32 f;
  // Below -30 the result is -1.
  const Reduced e = reduce_exp(at_least(hn::Set(f, -30.0F), x));
  const Vec power = power_of_two(e.n.integer);
  return hn::MulAdd(power, expm1_small(e.r), hn::Sub(power, hn::Set(f, 1.0F)));
}

// The natural logarithm; 2 ulp. Highway's own is undefined for what is not positive and finite.
HWY_INLINE Vec log(Vec x) {
  const F32 f;
  const Vec infinity = hn::Set(f, std::numeric_limits<float>::infinity());
  const Vec y = hn::Log(f, x);
  const Vec positive = hn::IfThenElse(hn::Eq(x, hn::Zero(f)), hn::Neg(infinity), y);
  const Vec finite = hn::IfThenElse(hn::Ge(x, infinity), x, positive);
  return hn::IfThenElse(hn::Ge(x, hn::Zero(f)), finite, hn::NaN(f));
}

// log(1 + x) for 0 <= x <= 1 or NaN; 2 ulp. Computed as twice the inverse hyperbolic tangent of z =
// x / (2 + x), which is z + z^3 P(z^2): relative error 4e-9 on [0, 1/3].
HWY_INLINE Vec log1p_unit(Vec x) {
  const F32 f;
  const Vec z = hn::Div(x, hn::Add(x, hn::Set(f, 2.0F)));
  const Vec s = hn::Mul(z, z);
  Vec p = hn::MulAdd(s, hn::Set(f, 0.1400613993F), hn::Set(f, 0.1400087553F));
  p = hn::MulAdd(s, p, hn::Set(f, 0.2001076510F));
  p = hn::MulAdd(s, p, hn::Set(f, 0.3333320812F));
  const Vec twice = hn::Add(z, z);
  return hn::MulAdd(hn::Mul(s, p), twice, twice);
}

// 1 / (1 + e^-x) and 1 / (1 + e^x), whose sum is 1; 3 ulp. Uses the exponential of -|x|, which
// cannot overflow.
struct Sigmoid {
  Vec value;
  Vec rest;
};

HWY_INLINE Sigmoid sigmoid_and_rest(Vec x) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec e = exp_below(hn::Neg(hn::Abs(x)));
  const Vec large = hn::Div(one, hn::Add(one, e));
  const Vec small = hn::Mul(e, large);
  const auto negative = hn::Lt(x, hn::Zero(f));
  return {hn::IfThenElse(negative, small, large), hn::IfThenElse(negative, large, small)};
}

HWY_INLINE Vec sigmoid(Vec x) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec e = exp_below(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(f)), e, one), hn::Add(one, e));
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|); 2 ulp.
HWY_INLINE Vec softplus(Vec x) {
  const F32 f;
  const Vec tail = log1p_unit(exp_below(hn::Neg(hn::Abs(x))));
  return hn::Add(hn::IfThenZeroElse(hn::Lt(x, hn::Zero(f)), x), tail);
}

// |m| / (2 + m) with m = e^(-2 |x|) - 1, and the sign of x; 3 ulp.
HWY_INLINE Vec tanh(Vec x) {
  const F32 f;
  const Vec size = hn::Abs(x);
  const Vec m = expm1_negative(hn::Mul(size, hn::Set(f, -2.0F)));
  return hn::CopySign(hn::Div(m, hn::Add(m, hn::Set(f, 2.0F))), x);
}

// e^(-k z^2), and its product with t P(t), t = 1 / (1 + slope z).
struct Tail {
  Vec bell;
  Vec integral;
};

// z >= 0 or NaN, at most `most`, beyond which both results are 0 or denormal. For k = 1/2 and slope
// 0.35 the second result is the integral of the normal density up to -z: relative error 3e-8 on [0,
// 15]. The rounding error of z^2 would be amplified by the exponential, so z is split: z = h + l,
// where h has few enough bits for an exact square; the rest, at most 0.08, is added to the reduced
// argument.
HWY_INLINE Tail normal_tail(Vec size, float most, float k, float slope) {
  const F32 f;
  const hn::RebindToUnsigned<F32> u;
  const Vec one = hn::Set(f, 1.0F);
  const Vec minus_k = hn::Set(f, -k);
  const Vec z = at_most(hn::Set(f, most), size);
  const Vec h = hn::BitCast(f, hn::And(hn::BitCast(u, z), hn::Set(u, 0xFFFFF000U)));
  const Vec rest = hn::Mul(hn::Sub(z, h), hn::Add(z, h));
  const Reduced e = reduce_exp(hn::Mul(hn::Mul(h, h), minus_k));
  const Vec p = expm1_small(hn::MulAdd(rest, minus_k, e.r));
  const Vec bell = scale(hn::Add(p, one), e.n);
  const Vec t = hn::Div(one, hn::MulAdd(z, hn::Set(f, slope), one));
  constexpr float kP[] = {-0.0291638287F, 0.1440603412F,  -0.2559009392F,
                          0.1593918940F,  -0.0232631650F, 0.1055745328F,
                          0.1198156121F,  0.1398643279F,  0.1396212588F};
  Vec tail = hn::Set(f, kP[0]);
  THIMBLE_UNROLL
  for (int i = 1; i < 9; ++i) tail = hn::MulAdd(tail, t, hn::Set(f, kP[i]));
  return {bell, hn::Mul(bell, hn::Mul(tail, t))};
}

// The density of the normal distribution, e^(-x^2 / 2) / sqrt(2 pi), and its integral from
// -infinity to x; 4 ulp.
struct Normal {
  Vec density;
  Vec integral;
};

HWY_INLINE Normal normal(Vec x) {
  const F32 f;
  const Tail tail = normal_tail(hn::Abs(x), 14.4F, 0.5F, 0.35F);
  const Vec above = hn::Sub(hn::Set(f, 1.0F), tail.integral);
  const Vec integral = hn::IfThenElse(hn::Lt(x, hn::Zero(f)), tail.integral, above);
  return {hn::Mul(tail.bell, hn::Set(f, 0.3989422804F)), integral};
}

// 2 / sqrt(pi) times the integral of e^(-t^2) from |x| to infinity; 6 ulp.
HWY_INLINE Vec erfc_of_size(Vec size) {
  const Vec tail = normal_tail(size, 10.2F, 1.0F, 0.49497475F).integral;
  return hn::Add(tail, tail);
}

// 2 / sqrt(pi) times the integral of e^(-t^2) from x to infinity: the complementary error function;
// 6 ulp.
HWY_INLINE Vec erfc(Vec x) {
  const F32 f;
  const Vec above = erfc_of_size(hn::Abs(x));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(f)), hn::Sub(hn::Set(f, 2.0F), above), above);
}

// The error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x; 3 ulp. Up to 1 it is
// x P(x^2), relative error 1.2e-9.
HWY_INLINE Vec erf(Vec x) {
  const F32 f;
  const Vec size = hn::Abs(x);
  const Vec s = hn::Mul(x, x);
  constexpr float kP[] = {7.85386593e-05F, -0.000801019413F, 0.00518832762F, -0.0268538118F,
                          0.112835851F,    -0.376126258F,    1.12837917F};
  Vec p = hn::Set(f, kP[0]);
  THIMBLE_UNROLL
  for (int i = 1; i < 7; ++i) p = hn::MulAdd(p, s, hn::Set(f, kP[i]));
  const Vec large = hn::CopySign(hn::Sub(hn::Set(f, 1.0F), erfc_of_size(size)), x);
  return hn::IfThenElse(hn::Lt(size, hn::Set(f, 1.0F)), hn::Mul(x, p), large);
}

#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR
// e log2(2^k m) in double precision, split into the nearest integer and the rest.
template <class Half>
struct Power {
  hn::Vec<Half> whole;
  hn::Vec<Half> rest;
};

// m in [sqrt(1/2), sqrt(2)]: log2(m) = s P(s^2), s = (m - 1) / (m + 1), relative error 4.3e-12.
template <class Half>
HWY_INLINE Power<Half> log2_times(Half half, hn::Vec<Half> m, hn::Vec<Half> k, hn::Vec<Half> e) {
  const hn::Rebind<double, Half> d;
  const auto wide = hn::PromoteTo(d, m);
  const auto one = hn::Set(d, 1.0);
  const auto s = hn::Div(hn::Sub(wide, one), hn::Add(wide, one));
  const auto q = hn::Mul(s, s);
  auto p = hn::MulAdd(q, hn::Set(d, 0.340730106585343377), hn::Set(d, 0.411672718997776687));
  p = hn::MulAdd(q, p, hn::Set(d, 0.577083584965151367));
  p = hn::MulAdd(q, p, hn::Set(d, 0.961796673341797493));
  p = hn::MulAdd(q, p, hn::Set(d, 2.88539008179008616));
  const auto power = hn::Mul(hn::PromoteTo(d, e), hn::MulAdd(s, p, hn::PromoteTo(d, k)));
  // Outside this range the result is infinite or 0.
  const auto limited = hn::Max(hn::Min(power, hn::Set(d, 250.0)), hn::Set(d, -250.0));
  const auto whole = hn::Round(limited);
  return {hn::DemoteTo(half, whole), hn::DemoteTo(half, hn::Sub(limited, whole))};
}

// size^e for size > 0, both finite.
HWY_INLINE Vec pow_magnitude(Vec size, Vec e) {
  const F32 f;
  const I32 i;
  const hn::Half<F32> half;
  const auto tiny = hn::Lt(size, hn::Set(f, std::numeric_limits<float>::min()));
  const Vec normal = hn::IfThenElse(tiny, hn::Mul(size, hn::Set(f, 16777216.0F)), size);
  const IntVec bits = hn::BitCast(i, normal);
  const IntVec exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(i, 0x3F3504F3)));  // sqrt(1/2)
  const Vec m = hn::BitCast(f, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Vec k = hn::Sub(hn::ConvertTo(f, exponent), hn::IfThenElseZero(tiny, hn::Set(f, 24.0F)));
  const auto low =
      log2_times(half, hn::LowerHalf(half, m), hn::LowerHalf(half, k), hn::LowerHalf(half, e));
  const auto high =
      log2_times(half, hn::UpperHalf(half, m), hn::UpperHalf(half, k), hn::UpperHalf(half, e));
  const Vec rest = hn::Combine(f, high.rest, low.rest);
  const Whole n = round_to_whole(hn::Combine(f, high.whole, low.whole));
  const Vec p = expm1_small(hn::Mul(rest, hn::Set(f, 0.693147181F)));
  return scale(hn::Add(p, hn::Set(f, 1.0F)), n);
}
#else
HWY_INLINE Vec pow_magnitude(Vec size, Vec e) {
  const F32 f;
  alignas(64) float sizes[HWY_LANES(float)];
  alignas(64) float exponents[HWY_LANES(float)];
  hn::Store(size, f, sizes);
  hn::Store(e, f, exponents);
  for (int i = 0; i < lanes(); ++i) sizes[i] = std::pow(sizes[i], exponents[i]);
  return hn::Load(f, sizes);
}
#endif

// x^e with all special cases of C99's pow (annex F.9.4.4); 2 ulp.
HWY_INLINE Vec pow(Vec x, Vec e) {
  const F32 f;
  const Vec zero = hn::Zero(f);
  const Vec one = hn::Set(f, 1.0F);
  const Vec infinity = hn::Set(f, std::numeric_limits<float>::infinity());
  const Vec size = hn::Abs(x);
  const auto unit = hn::Eq(size, one);
  const auto grows = hn::Gt(size, one);
  const auto extreme =
      hn::Or(hn::Or(hn::Eq(size, zero), hn::Eq(size, infinity)), hn::Eq(hn::Abs(e), infinity));
  // A base of 0 or infinity, or an exponent of infinity, gives 0 or infinity.
  const auto up = hn::Xor(grows, hn::Lt(e, zero));
  const Vec ordinary = pow_magnitude(hn::IfThenElse(hn::Or(unit, extreme), hn::Set(f, 2.0F), size),
                                     hn::IfThenElse(extreme, one, e));
  Vec y = hn::IfThenElse(extreme, hn::IfThenElseZero(up, infinity), ordinary);
  y = hn::IfThenElse(unit, one, y);
  // An odd exponent keeps the sign of x; a negative x with a fractional exponent gives NaN.
  const Vec half = hn::Mul(e, hn::Set(f, 0.5F));
  const auto whole = hn::Eq(hn::Trunc(e), e);
  const auto odd = hn::And(whole, hn::Ne(hn::Trunc(half), half));
  y = hn::IfThenElse(odd, hn::CopySignToAbs(y, x), y);
  const auto refused = hn::AndNot(whole, hn::And(hn::Lt(x, zero), hn::Ne(size, infinity)));
  const auto undefined = hn::Or(refused, hn::Or(hn::IsNaN(x), hn::IsNaN(e)));
  y = hn::IfThenElse(undefined, hn::NaN(f), y);
  return hn::IfThenElse(hn::Or(hn::Eq(e, zero), hn::Eq(x, one)), one, y);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
