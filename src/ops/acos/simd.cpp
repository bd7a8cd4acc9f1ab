#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::acos_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// sqrt(1 - x^2), without cancellation.
HWY_INLINE Vec root_of_rest(Vec x) {
  const Vec one = hn::Set(F32(), 1.0F);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}

UNARY_SIMD(acos, math::acos(x))
UNARY_GRAD_SIMD(acos, x, hn::Div(hn::Neg(dy), root_of_rest(x)))

}  // namespace thimble::ops::acos_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(acos)
