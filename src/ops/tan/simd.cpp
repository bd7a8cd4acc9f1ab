#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::tan_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(tan, math::tan(x))
UNARY_GRAD_SIMD(tan, y, hn::Mul(dy, hn::MulAdd(y, y, hn::Set(f, 1.0F))))

}  // namespace thimble::ops::tan_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(tan)
