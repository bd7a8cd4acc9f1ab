#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sqrt_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(sqrt, hn::Sqrt(x))
UNARY_GRAD_SIMD(sqrt, y, hn::Div(dy, hn::Add(y, y)))

}  // namespace thimble::ops::sqrt_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(sqrt)
