#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::selu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The first branch keeps -0.
UNARY_SIMD(selu, hn::IfThenElse(hn::Ge(x, hn::Zero(f)), hn::Mul(a, x),
                                hn::Mul(b, math::expm1_negative(x))))
UNARY_GRAD_SIMD(selu, y,
                hn::IfThenElse(hn::Gt(y, hn::Zero(f)), hn::Mul(a, dy), hn::Mul(dy, hn::Add(y, b))))

}  // namespace thimble::ops::selu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(selu)
