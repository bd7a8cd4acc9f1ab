#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::hard_swish_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec hard_swish_value(Vec x) {
  const F32 f;
  const Vec three = hn::Set(f, 3.0F);
  const Vec middle = hn::Mul(hn::Mul(x, hn::Add(x, three)), hn::Set(f, 1.0F / 6));
  const Vec up_to_3 = hn::IfThenZeroElse(hn::Le(x, hn::Neg(three)), middle);
  return hn::IfThenElse(hn::Ge(x, three), x, up_to_3);
}

HWY_INLINE Vec hard_swish_grad(Vec dy, Vec x) {
  const F32 f;
  const Vec three = hn::Set(f, 3.0F);
  const Vec middle = hn::Mul(dy, hn::MulAdd(x, hn::Set(f, 1.0F / 3), hn::Set(f, 0.5F)));
  const Vec up_to_3 = hn::IfThenZeroElse(hn::Le(x, hn::Neg(three)), middle);
  return hn::IfThenElse(hn::Ge(x, three), dy, up_to_3);
}

UNARY_SIMD(hard_swish, hard_swish_value(x))
UNARY_GRAD_SIMD(hard_swish, x, hard_swish_grad(dy, x))

}  // namespace thimble::ops::hard_swish_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(hard_swish)
