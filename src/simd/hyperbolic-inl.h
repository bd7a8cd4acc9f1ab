// Functions related to the exponential and the logarithm, on vectors of floats, valid for every
// float. The largest errors that tests/simd/elementwise_test.cpp measures are given with each
// function, in units in the last place. Included once per vector target.

#if defined(THIMBLE_SIMD_HYPERBOLIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_HYPERBOLIC_INL_H_
#undef THIMBLE_SIMD_HYPERBOLIC_INL_H_
#else
#define THIMBLE_SIMD_HYPERBOLIC_INL_H_
#endif

#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Clamps x to [-30, 89.5]: below it e^x - 1 is -1 in float, above it e^x / 2 is infinite.
HWY_INLINE Vec limited_exponent(Vec x) {
  const F32 f;
  return at_most(hn::Set(f, 89.5F), at_least(hn::Set(f, -30.0F), x));
}

// (e^x - 1) / 4, which does not overflow, with the sign of x.
HWY_INLINE Vec quarter_of_expm1(Vec x) {
  const F32 f;
  const Reduced e = reduce_exp(limited_exponent(x));
  const Vec power = power_of_two(hn::Sub(e.n.integer, hn::Set(I32(), 2)));
  const Vec y = hn::MulAdd(power, expm1_small(e.r), hn::Sub(power, hn::Set(f, 0.25F)));
  return hn::CopySign(y, x);
}

// e^x - 1; 2 ulp.
HWY_INLINE Vec expm1(Vec x) { return hn::Mul(quarter_of_expm1(x), hn::Set(F32(), 4.0F)); }

// 2^x; 2 ulp.
HWY_INLINE Vec exp2(Vec x) {
  const F32 f;
  const Vec limited = at_most(hn::Set(f, 130.0F), at_least(hn::Set(f, -152.0F), x));
  const Whole n = round_to_whole(limited);
  const Vec r = hn::Mul(hn::Sub(limited, n.number), hn::Set(f, 0.693147181F));
  return scale(hn::Add(expm1_small(r), hn::Set(f, 1.0F)), n);
}

// log(1 + x); 2 ulp. The factor x / (u - 1) corrects the rounding error of u = 1 + x. Source:
// Goldberg, "What every computer scientist should know about floating-point arithmetic", 1991.
HWY_INLINE Vec log1p(Vec x) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec u = hn::Add(x, one);
  const Vec y = hn::Div(hn::Mul(log(u), x), hn::Sub(u, one));
  const auto exact = hn::Or(hn::Eq(u, one), hn::Gt(u, hn::Set(f, 1e30F)));
  return hn::IfThenElse(exact, hn::IfThenElse(hn::Eq(u, one), x, log(x)), y);
}

// The logarithms to the bases 2 and 10; 2 ulp.
HWY_INLINE Vec log2(Vec x) { return hn::Mul(log(x), hn::Set(F32(), 1.44269504F)); }
HWY_INLINE Vec log10(Vec x) { return hn::Mul(log(x), hn::Set(F32(), 0.434294482F)); }

// (e^x - e^-x) / 2 = (m + m / (m + 1)) / 2 with m = e^x - 1; 2 ulp.
HWY_INLINE Vec sinh(Vec x) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec half = hn::Mul(quarter_of_expm1(hn::Abs(x)), hn::Set(f, 2.0F));
  // half / (2 half + 1), at most 1 / 2; bounded so that infinity is not divided by infinity.
  const Vec bounded = at_most(hn::Set(f, 1e30F), half);
  const Vec rest = hn::Div(bounded, hn::MulAdd(bounded, hn::Set(f, 2.0F), one));
  return hn::CopySign(hn::Add(half, rest), x);
}

// (e^x + e^-x) / 2; 2 ulp.
HWY_INLINE Vec cosh(Vec x) {
  const F32 f;
  const Reduced e = reduce_exp(limited_exponent(hn::Abs(x)));
  const Vec power = power_of_two(hn::Sub(e.n.integer, hn::Set(I32(), 2)));
  const Vec quarter = hn::MulAdd(power, expm1_small(e.r), power);
  const Vec rest = hn::Div(hn::Set(f, 0.125F), quarter);
  return hn::MulAdd(quarter, hn::Set(f, 2.0F), rest);
}

// The inverses of the hyperbolic sine, cosine and tangent; 3 ulp.
HWY_INLINE Vec asinh(Vec x) {
  const F32 f;
  const Vec y = hn::Asinh(f, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(f, std::numeric_limits<float>::infinity())), y,
                        x);
}

HWY_INLINE Vec acosh(Vec x) {
  const F32 f;
  const Vec infinity = hn::Set(f, std::numeric_limits<float>::infinity());
  const Vec y = hn::IfThenElse(hn::Lt(x, infinity), hn::Acosh(f, x), x);
  return hn::IfThenElse(hn::Ge(x, hn::Set(f, 1.0F)), y, hn::NaN(f));
}

// log1p(2 |x| / (1 - |x|)) / 2.
HWY_INLINE Vec atanh(Vec x) {
  const F32 f;
  const Vec size = hn::Abs(x);
  const Vec odds = hn::Div(hn::Add(size, size), hn::Sub(hn::Set(f, 1.0F), size));
  return hn::CopySign(hn::Mul(log1p(odds), hn::Set(f, 0.5F)), x);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
