#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sin/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(sin, math::sin(x))
UNARY_GRAD_SIMD(sin, x, hn::Mul(dy, math::cos(x)))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(sin)
