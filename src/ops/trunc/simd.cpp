#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/trunc/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// Some targets lose the sign of 0.
UNARY_SIMD(trunc, hn::CopySign(hn::Trunc(x), x))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT_LINEAR(trunc)
