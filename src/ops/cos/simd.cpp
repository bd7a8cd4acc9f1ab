#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cos/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(cos, math::cos(x))
UNARY_GRAD_SIMD(cos, x, hn::Neg(hn::Mul(dy, math::sin(x))))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(cos)
