#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::relu6_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec six() { return hn::Set(F32(), 6.0F); }

UNARY_SIMD(relu6,
           hn::IfThenZeroElse(hn::Lt(x, hn::Zero(f)), hn::IfThenElse(hn::Gt(x, six()), six(), x)))
UNARY_GRAD_SIMD(relu6, y, hn::IfThenZeroElse(hn::Or(hn::Le(y, hn::Zero(f)), hn::Ge(y, six())), dy))

}  // namespace thimble::ops::relu6_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(relu6)
