#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::rsqrt_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(rsqrt, hn::Div(hn::Set(f, 1.0F), hn::Sqrt(x)))
UNARY_GRAD_SIMD(rsqrt, y, hn::Mul(hn::Mul(hn::Mul(hn::Mul(dy, hn::Set(f, -0.5F)), y), y), y))

}  // namespace thimble::ops::rsqrt_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(rsqrt)
