#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::softshrink_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec softshrink_value(Vec x, Vec a) {
  const Vec beyond = hn::IfThenElse(hn::Gt(x, a), hn::Sub(x, a), hn::Add(x, a));
  const auto within = hn::Le(hn::Abs(x), a);
  return hn::IfThenZeroElse(within, beyond);
}

UNARY_SIMD(softshrink, softshrink_value(x, a))
UNARY_GRAD_SIMD(softshrink, y, hn::IfThenZeroElse(hn::Eq(y, hn::Zero(f)), dy))

}  // namespace thimble::ops::softshrink_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(softshrink)
