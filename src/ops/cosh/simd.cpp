#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::cosh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(cosh, math::cosh(x))
UNARY_GRAD_SIMD(cosh, x, hn::Mul(dy, math::sinh(x)))

}  // namespace thimble::ops::cosh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(cosh)
