#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::cos_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(cos, math::cos(x))
UNARY_GRAD_SIMD(cos, x, hn::Neg(hn::Mul(dy, math::sin(x))))

}  // namespace thimble::ops::cos_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(cos)
