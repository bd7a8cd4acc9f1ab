#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sigmoid_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(sigmoid, math::sigmoid(x))
UNARY_GRAD_SIMD(sigmoid, y, hn::Mul(hn::Mul(dy, y), hn::Sub(hn::Set(f, 1.0F), y)))

}  // namespace thimble::ops::sigmoid_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(sigmoid)
