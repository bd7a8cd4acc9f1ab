#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sinh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(sinh, math::sinh(x))
UNARY_GRAD_SIMD(sinh, x, hn::Mul(dy, math::cosh(x)))

}  // namespace thimble::ops::sinh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(sinh)
