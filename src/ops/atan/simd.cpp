#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::atan_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

UNARY_SIMD(atan, math::atan(x))
UNARY_GRAD_SIMD(atan, x, hn::Div(dy, hn::MulAdd(x, x, hn::Set(f, 1.0F))))

}  // namespace thimble::ops::atan_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(atan)
