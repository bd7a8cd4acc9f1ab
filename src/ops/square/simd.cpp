#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::square_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(square, hn::Mul(x, x))
UNARY_GRAD_SIMD(square, x, hn::Mul(hn::Add(x, x), dy))

}  // namespace thimble::ops::square_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(square)
