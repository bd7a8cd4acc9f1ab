#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::log10_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(log10, math::log10(x))
UNARY_GRAD_SIMD(log10, x, hn::Div(dy, hn::Mul(x, hn::Set(f, 2.30258509F))))

}  // namespace thimble::ops::log10_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(log10)
