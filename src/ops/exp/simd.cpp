#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::exp_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(exp, math::exp(x))
UNARY_GRAD_SIMD(exp, y, hn::Mul(dy, y))

}  // namespace thimble::ops::exp_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(exp)
