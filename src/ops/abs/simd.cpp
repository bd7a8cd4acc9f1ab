#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::abs_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(abs, hn::Abs(x))
UNARY_GRAD_SIMD(abs, x,
                hn::IfThenElse(hn::Gt(x, hn::Zero(f)), dy,
                               hn::IfThenElse(hn::Lt(x, hn::Zero(f)), hn::Neg(dy), hn::Mul(x, dy))))

}  // namespace thimble::ops::abs_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(abs)
