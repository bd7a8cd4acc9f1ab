#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::elu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The first branch keeps -0.
UNARY_SIMD(elu, hn::IfThenElse(hn::Ge(x, hn::Zero(f)), x, hn::Mul(a, math::expm1_negative(x))))

// With a negative alpha y holds x.
HWY_INLINE Vec elu_slope(Vec y, Vec a) {
  return hn::GetLane(a) < 0.0F ? hn::Mul(a, math::exp_below(y)) : hn::Add(y, a);
}
UNARY_GRAD_SIMD(elu, y, hn::IfThenElse(hn::Gt(y, hn::Zero(f)), dy, hn::Mul(dy, elu_slope(y, a))))

}  // namespace thimble::ops::elu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(elu)
