#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::log2_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(log2, math::log2(x))
UNARY_GRAD_SIMD(log2, x, hn::Div(dy, hn::Mul(x, hn::Set(f, 0.693147181F))))

}  // namespace thimble::ops::log2_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(log2)
