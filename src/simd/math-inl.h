// Functions of vectors of floats: right for every float, denormals, infinities and NaN included.
// The worst errors that tests/simd/elementwise_test.cpp allows stand with each function, in units
// in the last place. Included once per vector target.
//
// Coefficients are polynomials of least relative error (Remez exchange in 40 digits) for the
// functions and intervals named beside them, unless another source is given.

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

// x = n ln 2 + r with |r| <= ln 2 / 2, and p = e^r - 1. Source: Cody and Waite, "Software manual
// for the elementary functions", 1980.
struct Reduced {
  IntVec n;
  Vec p;
};

// -104 <= x <= 104, or NaN.
HWY_INLINE Reduced reduce_exp(Vec x) {
  const F32 f;
  const I32 i;
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits.
  const Vec shift = hn::Set(f, 12582912.0F);
  const Vec rounded = hn::MulAdd(x, hn::Set(f, 1.44269504F), shift);
  const IntVec n = hn::Sub(hn::BitCast(i, rounded), hn::BitCast(i, shift));
  const Vec whole = hn::Sub(rounded, shift);
  // ln 2 in two parts; a product with the first is exact.
  Vec r = hn::NegMulAdd(whole, hn::Set(f, 0.693145751953125F), x);
  r = hn::NegMulAdd(whole, hn::Set(f, 1.42860677e-6F), r);
  // (e^r - 1 - r) / r^2: relative error of e^r 3.1e-9.
  Vec q = hn::MulAdd(r, hn::Set(f, 0.00138141731F), hn::Set(f, 0.00836892183F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.0416684080F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.166665189F));
  q = hn::MulAdd(r, q, hn::Set(f, 0.499999933F));
  return {n, hn::MulAdd(hn::Mul(r, r), q, r)};
}

// 2^n, -127 < n < 128.
HWY_INLINE Vec power_of_two(IntVec n) {
  return hn::BitCast(F32(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(I32(), 127))));
}

// x, but at least `least` or NaN.
HWY_INLINE Vec at_least(Vec least, Vec x) { return hn::IfThenElse(hn::Lt(x, least), least, x); }

// e^x for x <= 104 or NaN; 1 ulp.
HWY_INLINE Vec exp_below(Vec x) {
  const F32 f;
  const Reduced e = reduce_exp(at_least(hn::Set(f, -104.0F), x));
  // In two steps, because 2^n itself may be too large or too small for a float.
  const IntVec half = hn::ShiftRight<1>(e.n);
  const Vec scaled = hn::Mul(hn::Add(e.p, hn::Set(f, 1.0F)), power_of_two(half));
  return hn::Mul(scaled, power_of_two(hn::Sub(e.n, half)));
}

// e^x; 1 ulp.
HWY_INLINE Vec exp(Vec x) {
  const Vec most = hn::Set(F32(), 104.0F);  // already infinite
  return exp_below(hn::IfThenElse(hn::Gt(x, most), most, x));
}

// e^x - 1 for x <= 0 or NaN; 2 ulp.
HWY_INLINE Vec expm1_negative(Vec x) {
  const F32 f;
  // Below -30 the result is -1.
  const Reduced e = reduce_exp(at_least(hn::Set(f, -30.0F), x));
  const Vec scale = power_of_two(e.n);
  return hn::MulAdd(scale, e.p, hn::Sub(scale, hn::Set(f, 1.0F)));
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

// log(1 + x) for 0 <= x <= 1 or NaN; 2 ulp. Twice the inverse hyperbolic tangent of z = x / (2 +
// x), which is z + z^3 P(z^2): relative error 4e-9 on [0, 1/3].
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

// 1 / (1 + e^-x) and 1 / (1 + e^x), whose sum is 1; 3 ulp. From the exponential of -|x|, which
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

// The density of the normal distribution, e^(-x^2 / 2) / sqrt(2 pi), and its integral from
// -infinity to x; 4 ulp.
struct Normal {
  Vec density;
  Vec integral;
};

// The integral up to -z, z = |x|, is e^(-z^2 / 2) t P(t), t = 1 / (1 + 0.35 z): relative error 3e-8
// on [0, 15]. z^2 is split so that its rounding is not blown up by the exponential: z = h + l,
// where h has few enough bits that its square is exact.
HWY_INLINE Normal normal(Vec x) {
  const F32 f;
  const hn::RebindToUnsigned<F32> u;
  const Vec half = hn::Set(f, 0.5F);
  const Vec one = hn::Set(f, 1.0F);
  // Beyond 15 both are 0 or denormal.
  const Vec most = hn::Set(f, 15.0F);
  const Vec size = hn::Abs(x);
  const Vec z = hn::IfThenElse(hn::Gt(size, most), most, size);
  const Vec h = hn::BitCast(f, hn::And(hn::BitCast(u, z), hn::Set(u, 0xFFFFF000U)));
  const Vec rest = hn::Mul(hn::Mul(hn::Sub(z, h), hn::Add(z, h)), half);
  const Vec e = exp_below(hn::Neg(hn::Mul(hn::Mul(h, h), half)));
  // rest < 0.06: 1 - e^-rest = rest (1 - rest / 2 + rest^2 / 6 - ...)
  Vec series = hn::NegMulAdd(rest, hn::Set(f, 1.0F / 24), hn::Set(f, 1.0F / 6));
  series = hn::NegMulAdd(rest, series, half);
  series = hn::NegMulAdd(rest, series, one);
  const Vec bell = hn::NegMulAdd(hn::Mul(e, rest), series, e);
  const Vec t = hn::Div(one, hn::MulAdd(z, hn::Set(f, 0.35F), one));
  constexpr float kP[] = {-0.0291638287F, 0.1440603412F,  -0.2559009392F,
                          0.1593918940F,  -0.0232631650F, 0.1055745328F,
                          0.1198156121F,  0.1398643279F,  0.1396212588F};
  Vec p = hn::Set(f, kP[0]);
  THIMBLE_UNROLL
  for (int i = 1; i < 9; ++i) p = hn::MulAdd(p, t, hn::Set(f, kP[i]));
  const Vec below = hn::Mul(bell, hn::Mul(p, t));
  const Vec integral = hn::IfThenElse(hn::Lt(x, hn::Zero(f)), below, hn::Sub(one, below));
  return {hn::Mul(bell, hn::Set(f, 0.3989422804F)), integral};
}

#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR
// |x|^e for x that is not 0, 1, infinite or NaN, through logarithm and exponential in double
// precision.
template <class Half>
HWY_INLINE hn::Vec<Half> pow_half(Half half, hn::Vec<Half> size, hn::Vec<Half> e) {
  const hn::Rebind<double, Half> d;
  const auto power = hn::Mul(hn::PromoteTo(d, e), hn::Log(d, hn::PromoteTo(d, size)));
  // Beyond these a float is infinite or 0.
  const auto most = hn::Min(power, hn::Set(d, 200.0));
  return hn::DemoteTo(half, hn::Exp(d, hn::Max(most, hn::Set(d, -200.0))));
}

HWY_INLINE Vec pow_magnitude(Vec size, Vec e) {
  const F32 f;
  const hn::Half<F32> half;
  const auto low = pow_half(half, hn::LowerHalf(half, size), hn::LowerHalf(half, e));
  const auto high = pow_half(half, hn::UpperHalf(half, size), hn::UpperHalf(half, e));
  return hn::Combine(f, high, low);
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

// x^e with all the special values of C99's pow (annex F.9.4.4); 1 ulp.
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
  // 0 and infinity, and anything to the power of infinity: one of the two again.
  const auto up = hn::Xor(grows, hn::Lt(e, zero));
  const Vec ordinary = pow_magnitude(hn::IfThenElse(hn::Or(unit, extreme), hn::Set(f, 2.0F), size),
                                     hn::IfThenElse(extreme, one, e));
  Vec y = hn::IfThenElse(extreme, hn::IfThenElseZero(up, infinity), ordinary);
  y = hn::IfThenElse(unit, one, y);
  // The sign of x is that of the power for odd exponents; others take no negative numbers.
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
