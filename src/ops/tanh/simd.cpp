#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::tanh_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(tanh, math::tanh(x))
UNARY_GRAD_SIMD(tanh, y, hn::Mul(dy, hn::NegMulAdd(y, y, hn::Set(f, 1.0F))))

}  // namespace thimble::ops::tanh_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(tanh)
