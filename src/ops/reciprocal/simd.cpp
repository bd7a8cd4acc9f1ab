#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::reciprocal_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(reciprocal, hn::Div(hn::Set(f, 1.0F), x))
UNARY_GRAD_SIMD(reciprocal, y, hn::Mul(hn::Mul(hn::Neg(dy), y), y))

}  // namespace thimble::ops::reciprocal_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(reciprocal)
