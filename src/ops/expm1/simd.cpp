#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::expm1_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(expm1, math::expm1(x))
UNARY_GRAD_SIMD(expm1, y, hn::Mul(dy, hn::Add(y, hn::Set(f, 1.0F))))

}  // namespace thimble::ops::expm1_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(expm1)
