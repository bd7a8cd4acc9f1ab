#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::swish_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// s + x s (1 - s), s = sigmoid(x).
HWY_INLINE Vec swish_slope(Vec x) {
  const math::Sigmoid s = math::sigmoid_and_rest(x);
  return hn::MulAdd(hn::Mul(s.value, x), s.rest, s.value);
}

UNARY_SIMD(swish, hn::Mul(x, math::sigmoid(x)))
UNARY_GRAD_SIMD(swish, x, hn::Mul(dy, swish_slope(x)))

}  // namespace thimble::ops::swish_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(swish)
