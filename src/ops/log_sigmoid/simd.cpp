#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/log_sigmoid/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(log_sigmoid, hn::Neg(math::softplus(hn::Neg(x))))
UNARY_GRAD_SIMD(log_sigmoid, y, hn::Neg(hn::Mul(dy, math::expm1(y))))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(log_sigmoid)
