#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::relu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(relu, hn::IfThenZeroElse(hn::Lt(x, hn::Zero(f)), x))
UNARY_GRAD_SIMD(relu, y, hn::IfThenZeroElse(hn::Le(y, hn::Zero(f)), dy))

}  // namespace thimble::ops::relu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(relu)
