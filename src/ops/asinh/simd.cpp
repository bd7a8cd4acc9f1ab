#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::asinh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(asinh, math::asinh(x))
UNARY_GRAD_SIMD(asinh, x, hn::Div(dy, hn::Sqrt(hn::MulAdd(x, x, hn::Set(f, 1.0F)))))

}  // namespace thimble::ops::asinh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(asinh)
