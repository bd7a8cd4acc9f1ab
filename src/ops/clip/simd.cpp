#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::clip_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(clip, hn::IfThenElse(hn::Lt(x, a), a, hn::IfThenElse(hn::Gt(x, b), b, x)))
UNARY_GRAD_SIMD(clip, x, hn::IfThenZeroElse(hn::Or(hn::Lt(x, a), hn::Gt(x, b)), dy))

}  // namespace thimble::ops::clip_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(clip)
