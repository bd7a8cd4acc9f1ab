#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/hardshrink/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(hardshrink, hn::IfThenZeroElse(hn::Le(hn::Abs(x), a), x))
UNARY_GRAD_SIMD(hardshrink, x, hn::IfThenZeroElse(hn::Le(hn::Abs(x), a), dy))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(hardshrink)
