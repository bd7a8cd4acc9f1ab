#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::asin_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// sqrt(1 - x^2), without cancellation.
HWY_INLINE Vec root_of_rest(Vec x) {
  const Vec one = hn::Set(F32(), 1.0F);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}

UNARY_SIMD(asin, math::asin(x))
UNARY_GRAD_SIMD(asin, x, hn::Div(dy, root_of_rest(x)))

}  // namespace thimble::ops::asin_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(asin)
