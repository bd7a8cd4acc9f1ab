#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::atanh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(atanh, math::atanh(x))
UNARY_GRAD_SIMD(atanh, x,
                hn::Div(dy, hn::Mul(hn::Sub(hn::Set(f, 1.0F), x), hn::Add(hn::Set(f, 1.0F), x))))

}  // namespace thimble::ops::atanh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(atanh)
