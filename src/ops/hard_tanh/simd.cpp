#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::hard_tanh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(hard_tanh, math::at_most(b, math::at_least(a, x)))
UNARY_GRAD_SIMD(hard_tanh, y, hn::IfThenZeroElse(hn::Or(hn::Le(y, a), hn::Ge(y, b)), dy))

}  // namespace thimble::ops::hard_tanh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(hard_tanh)
