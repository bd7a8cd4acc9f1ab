#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"
#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::pow_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// x^exponent; common exponents need no logarithm.
HWY_INLINE Vec power(Vec x, float exponent) {
  const F32 f;
  if (exponent == 1.0F) return x;
  if (exponent == 2.0F) return hn::Mul(x, x);
  if (exponent == 3.0F) return hn::Mul(hn::Mul(x, x), x);
  if (exponent == -1.0F) return hn::Div(hn::Set(f, 1.0F), x);
  return math::pow(x, hn::Set(f, exponent));
}

HWY_INLINE Vec power_grad(Vec dy, Vec x, float exponent) {
  const F32 f;
  if (exponent == 0.0F) return hn::Zero(f);
  return hn::Mul(hn::Mul(dy, hn::Set(f, exponent)), power(x, exponent - 1.0F));
}

HWY_INLINE Vec slope(Vec a, Vec b) {
  const F32 f;
  const Vec product = hn::Mul(b, math::pow(a, hn::Sub(b, hn::Set(f, 1.0F))));
  return hn::IfThenZeroElse(hn::Eq(b, hn::Zero(f)), product);
}

HWY_INLINE Vec growth(Vec a, Vec b) {
  const Vec zero = hn::Zero(F32());
  const Vec product = hn::Mul(math::pow(a, b), math::log(a));
  return hn::IfThenZeroElse(hn::And(hn::Eq(a, zero), hn::Ge(b, zero)), product);
}

BINARY_SIMD(pow_tensor, math::pow(a, b))
BINARY_SIMD(pow_tensor_slope, slope(a, b))
BINARY_SIMD(pow_tensor_growth, growth(a, b))

UNARY_SIMD(pow, power(x, d->a))
UNARY_GRAD_SIMD(pow, x, power_grad(dy, x, d->a))

}  // namespace thimble::ops::pow_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(pow)
BINARY_SIMD_EXPORT_IN(pow, pow_tensor)
BINARY_SIMD_EXPORT_IN(pow, pow_tensor_slope)
BINARY_SIMD_EXPORT_IN(pow, pow_tensor_growth)
