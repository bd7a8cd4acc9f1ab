#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/clip/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(clip, hn::IfThenElse(hn::Lt(x, a), a, hn::IfThenElse(hn::Gt(x, b), b, x)))
UNARY_GRAD_SIMD(clip, x, hn::IfThenZeroElse(hn::Or(hn::Lt(x, a), hn::Gt(x, b)), dy))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(clip)
