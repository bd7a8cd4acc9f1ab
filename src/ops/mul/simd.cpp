#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/mul/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

BINARY_SIMD(mul, hn::Mul(a, b))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(mul)
