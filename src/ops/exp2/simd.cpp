#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::exp2_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(exp2, math::exp2(x))
UNARY_GRAD_SIMD(exp2, y, hn::Mul(dy, hn::Mul(hn::Set(f, 0.693147181F), y)))

}  // namespace thimble::ops::exp2_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(exp2)
