#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::hard_sigmoid_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec hard_sigmoid_value(Vec x) {
  const F32 f;
  const Vec y = hn::Div(hn::Add(x, hn::Set(f, 3.0F)), hn::Set(f, 6.0F));
  return math::at_most(hn::Set(f, 1.0F), math::at_least(hn::Zero(f), y));
}

UNARY_SIMD(hard_sigmoid, hard_sigmoid_value(x))
UNARY_GRAD_SIMD(hard_sigmoid, y,
                hn::IfThenElseZero(hn::And(hn::Gt(y, hn::Zero(f)), hn::Lt(y, hn::Set(f, 1.0F))),
                                   hn::Div(dy, hn::Set(f, 6.0F))))

}  // namespace thimble::ops::hard_sigmoid_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(hard_sigmoid)
