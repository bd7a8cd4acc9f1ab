#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::hardshrink_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(hardshrink, hn::IfThenZeroElse(hn::Le(hn::Abs(x), a), x))
UNARY_GRAD_SIMD(hardshrink, x, hn::IfThenZeroElse(hn::Le(hn::Abs(x), a), dy))

}  // namespace thimble::ops::hardshrink_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(hardshrink)
