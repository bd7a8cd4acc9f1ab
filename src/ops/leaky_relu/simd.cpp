#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::leaky_relu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(leaky_relu, hn::IfThenElse(hn::Gt(x, hn::Zero(f)), x, hn::Mul(a, x)))
UNARY_GRAD_SIMD(leaky_relu, y, hn::IfThenElse(hn::Gt(y, hn::Zero(f)), dy, hn::Mul(a, dy)))

}  // namespace thimble::ops::leaky_relu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(leaky_relu)
