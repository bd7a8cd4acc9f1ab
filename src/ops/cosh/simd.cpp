#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/cosh/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(cosh, math::cosh(x))
UNARY_GRAD_SIMD(cosh, x, hn::Mul(dy, math::sinh(x)))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(cosh)
