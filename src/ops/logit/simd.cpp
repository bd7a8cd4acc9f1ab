#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"
#include "simd/hyperbolic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::logit_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// log(x / (1 - x)), without cancellation around 1/2.
HWY_INLINE Vec logit_of(Vec x) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec rest = hn::Sub(one, x);
  const Vec around_half = math::log1p(hn::Div(hn::Sub(hn::Add(x, x), one), rest));
  return hn::IfThenElse(hn::Lt(x, hn::Set(f, 0.25F)), math::log(hn::Div(x, rest)), around_half);
}

// eps: below 0 for no limits.
HWY_INLINE Vec logit_limited(Vec x, Vec eps) {
  const F32 f;
  const Vec most = hn::Sub(hn::Set(f, 1.0F), eps);
  const Vec limited = math::at_most(most, math::at_least(eps, x));
  return hn::IfThenElse(hn::Lt(eps, hn::Zero(f)), x, limited);
}

HWY_INLINE Vec logit_slope(Vec dy, Vec x, Vec eps) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec inside = hn::Div(dy, hn::Mul(x, hn::Sub(one, x)));
  const auto is_free = hn::Lt(eps, hn::Zero(f));
  const auto beyond = hn::Or(hn::Lt(x, hn::Zero(f)), hn::Gt(x, one));
  const auto limited = hn::Or(hn::Lt(x, eps), hn::Gt(x, hn::Sub(one, eps)));
  const Vec free = hn::IfThenElse(beyond, hn::NaN(f), inside);
  return hn::IfThenElse(is_free, free, hn::IfThenZeroElse(limited, inside));
}

UNARY_SIMD(logit, logit_of(logit_limited(x, a)))
UNARY_GRAD_SIMD(logit, x, logit_slope(dy, x, a))

}  // namespace thimble::ops::logit_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(logit)
