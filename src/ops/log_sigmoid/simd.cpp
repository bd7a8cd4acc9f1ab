#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::log_sigmoid_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(log_sigmoid, hn::Neg(math::softplus(hn::Neg(x))))
UNARY_GRAD_SIMD(log_sigmoid, y, hn::Neg(hn::Mul(dy, math::expm1(y))))

}  // namespace thimble::ops::log_sigmoid_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(log_sigmoid)
