#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::threshold_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(threshold, hn::IfThenElse(hn::Le(x, a), b, x))
UNARY_GRAD_SIMD(threshold, x, hn::IfThenZeroElse(hn::Le(x, a), dy))

}  // namespace thimble::ops::threshold_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(threshold)
