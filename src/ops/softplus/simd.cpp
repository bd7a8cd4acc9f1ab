#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::softplus_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// a: beta, b: threshold.
HWY_INLINE Vec softplus_value(Vec x, Vec a, Vec b) {
  const Vec scaled = hn::Mul(a, x);
  return hn::IfThenElse(hn::Gt(scaled, b), x, hn::Div(math::softplus(scaled), a));
}

HWY_INLINE Vec softplus_grad(Vec dy, Vec x, Vec a, Vec b) {
  const Vec scaled = hn::Mul(a, x);
  return hn::IfThenElse(hn::Gt(scaled, b), dy, hn::Mul(dy, math::sigmoid(scaled)));
}

UNARY_SIMD(softplus, softplus_value(x, a, b))
UNARY_GRAD_SIMD(softplus, x, softplus_grad(dy, x, a, b))

}  // namespace thimble::ops::softplus_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(softplus)
