#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::celu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The first branch keeps -0.
HWY_INLINE Vec celu_value(Vec x, Vec a) {
  const F32 f;
  return hn::IfThenElse(hn::Ge(x, hn::Zero(f)), x, hn::Mul(a, math::expm1(hn::Div(x, a))));
}

UNARY_SIMD(celu, celu_value(x, a))
UNARY_GRAD_SIMD(celu, y,
                hn::IfThenElse(hn::Gt(y, hn::Zero(f)), dy,
                               hn::Mul(dy, hn::Add(hn::Div(y, a), hn::Set(f, 1.0F)))))

}  // namespace thimble::ops::celu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(celu)
