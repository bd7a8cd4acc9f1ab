// Sine, cosine, tangent and their inverses on vectors of floats, valid for every float, however
// large. The largest errors that tests/simd/elementwise_test.cpp measures are given with each
// function, in units in the last place. Included once per vector target.

#if defined(THIMBLE_SIMD_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_TRIGONOMETRY_INL_H_
#undef THIMBLE_SIMD_TRIGONOMETRY_INL_H_
#else
#define THIMBLE_SIMD_TRIGONOMETRY_INL_H_
#endif

#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// x = n pi / 2 + r with |r| <= pi / 4; n is taken modulo 4.
struct Quarters {
  IntVec n;
  Vec r;
};

// Reduces any x >= 0; infinity and NaN give NaN. The C library reduces large arguments correctly; r
// follows with full precision from the smaller one of sine and cosine.
inline Quarters reduce_any_quarters(Vec x) {
  alignas(64) float r[HWY_LANES(float)];
  alignas(64) int32_t n[HWY_LANES(float)];
  hn::Store(x, F32(), r);
  for (int i = 0; i < lanes(); ++i) {
    const double sine = std::sin(static_cast<double>(r[i]));
    const double cosine = std::cos(static_cast<double>(r[i]));
    if (std::abs(sine) <= std::abs(cosine)) {
      n[i] = cosine > 0 ? 0 : 2;
      r[i] = static_cast<float>(std::asin(cosine > 0 ? sine : -sine));
    } else {
      n[i] = sine > 0 ? 1 : 3;
      r[i] = static_cast<float>(std::asin(sine > 0 ? -cosine : cosine));
    }
  }
  return {hn::Load(I32(), n), hn::Load(F32(), r)};
}

#if HWY_HAVE_FLOAT64 && HWY_TARGET != HWY_SCALAR
// Reduces 0 <= x <= 1e6 in half vectors: n as a number, and r. pi / 2 is a sum of two numbers; the
// product with the first is exact. Source: Cody and Waite, "Software manual for the elementary
// functions", 1980.
template <class Half>
struct HalfQuarters {
  hn::Vec<Half> n;
  hn::Vec<Half> r;
};

template <class Half>
HWY_INLINE HalfQuarters<Half> reduce_half(Half half, hn::Vec<Half> x) {
  const hn::Rebind<double, Half> d;
  const auto wide = hn::PromoteTo(d, x);
  const auto n = hn::Round(hn::Mul(wide, hn::Set(d, 0.63661977236758134)));
  const auto r = hn::NegMulAdd(n, hn::Set(d, 1.57079632673412561417), wide);
  return {hn::DemoteTo(half, n),
          hn::DemoteTo(half, hn::NegMulAdd(n, hn::Set(d, 6.07710050650619224932e-11), r))};
}

HWY_INLINE Quarters reduce_quarters(Vec x) {
  const F32 f;
  if (!hn::AllTrue(f, hn::Lt(x, hn::Set(f, 1e6F)))) return reduce_any_quarters(x);
  const hn::Half<F32> half;
  const auto low = reduce_half(half, hn::LowerHalf(half, x));
  const auto high = reduce_half(half, hn::UpperHalf(half, x));
  return {hn::ConvertTo(I32(), hn::Combine(f, high.n, low.n)), hn::Combine(f, high.r, low.r)};
}
#else
HWY_INLINE Quarters reduce_quarters(Vec x) { return reduce_any_quarters(x); }
#endif

// sin r and cos r, |r| <= pi / 4; relative errors 4e-9 and 1e-10.
HWY_INLINE Vec sin_small(Vec r) {
  const F32 f;
  const Vec s = hn::Mul(r, r);
  Vec p = hn::MulAdd(s, hn::Set(f, -0.000195152188F), hn::Set(f, 0.0083321603F));
  p = hn::MulAdd(s, p, hn::Set(f, -0.166666546F));
  return hn::MulAdd(hn::Mul(s, p), r, r);
}

HWY_INLINE Vec cos_small(Vec r) {
  const F32 f;
  const Vec s = hn::Mul(r, r);
  Vec p = hn::MulAdd(s, hn::Set(f, 2.44330844e-05F), hn::Set(f, -0.00138873156F));
  p = hn::MulAdd(s, p, hn::Set(f, 0.0416666457F));
  const Vec half = hn::NegMulAdd(s, hn::Set(f, 0.5F), hn::Set(f, 1.0F));
  return hn::MulAdd(hn::Mul(s, s), p, half);
}

// Whether bit `bit` of n is set, as a mask.
HWY_INLINE auto has_bit(IntVec n, int bit) {
  const I32 i;
  const IntVec mask = hn::Set(i, bit);
  return hn::RebindMask(F32(), hn::Eq(hn::And(n, mask), mask));
}

// sin r for n = 0, cos r for n = 1, and their negatives for 2 and 3.
HWY_INLINE Vec quarter_wave(Quarters q) {
  const Vec y = hn::IfThenElse(has_bit(q.n, 1), cos_small(q.r), sin_small(q.r));
  return hn::IfThenElse(has_bit(q.n, 2), hn::Neg(y), y);
}

// The sine; 2 ulp.
HWY_INLINE Vec sin(Vec x) {
  const Vec sign = hn::And(hn::SignBit(F32()), x);
  return hn::Xor(quarter_wave(reduce_quarters(hn::Abs(x))), sign);
}

// The cosine; 2 ulp.
HWY_INLINE Vec cos(Vec x) {
  const Quarters q = reduce_quarters(hn::Abs(x));
  return quarter_wave({hn::Add(q.n, hn::Set(I32(), 1)), q.r});
}

// The tangent; 3 ulp.
HWY_INLINE Vec tan(Vec x) {
  const Quarters q = reduce_quarters(hn::Abs(x));
  const Vec sine = sin_small(q.r);
  const Vec cosine = cos_small(q.r);
  const auto odd = has_bit(q.n, 1);
  const Vec y =
      hn::Div(hn::IfThenElse(odd, hn::Neg(cosine), sine), hn::IfThenElse(odd, sine, cosine));
  return hn::Xor(y, hn::And(hn::SignBit(F32()), x));
}

// The inverses of the sine, the cosine and the tangent; 3 ulp.
HWY_INLINE Vec asin(Vec x) { return hn::Asin(F32(), x); }
HWY_INLINE Vec acos(Vec x) { return hn::Acos(F32(), x); }
HWY_INLINE Vec atan(Vec x) { return hn::Atan(F32(), x); }

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
