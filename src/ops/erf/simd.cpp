#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::erf_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(erf, math::erf(x))
UNARY_GRAD_SIMD(erf, x,
                hn::Mul(dy, hn::Mul(hn::Set(f, 1.12837917F), math::exp(hn::Neg(hn::Mul(x, x))))))

}  // namespace thimble::ops::erf_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(erf)
