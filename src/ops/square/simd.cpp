#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/square/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

UNARY_SIMD(square, hn::Mul(x, x))
UNARY_GRAD_SIMD(square, x, hn::Mul(hn::Add(x, x), dy))

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(square)
