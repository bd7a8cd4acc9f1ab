#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::log1p_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(log1p, math::log1p(x))
UNARY_GRAD_SIMD(log1p, x, hn::Div(dy, hn::Add(hn::Set(f, 1.0F), x)))

}  // namespace thimble::ops::log1p_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(log1p)
