#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::acosh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(acosh, math::acosh(x))
UNARY_GRAD_SIMD(acosh, x,
                hn::Div(dy, hn::Sqrt(hn::Mul(hn::Sub(x, hn::Set(f, 1.0F)),
                                             hn::Add(x, hn::Set(f, 1.0F))))))

}  // namespace thimble::ops::acosh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(acosh)
