#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::mish_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// With e = e^x, tanh(ln(1 + e^x)) = n / (n + 2), n = e (e + 2). Beyond 20 it is 1.
struct Mish {
  Vec x;  // at most 20
  Vec e;
  Vec n;
  Vec whole;  // n + 2
};

HWY_INLINE Mish mish_parts(Vec x) {
  const F32 f;
  const Vec two = hn::Set(f, 2.0F);
  const Vec most = hn::Set(f, 20.0F);
  const Vec capped = hn::IfThenElse(hn::Gt(x, most), most, x);
  const Vec e = math::exp_below(capped);
  const Vec n = hn::Mul(e, hn::Add(e, two));
  return {capped, e, n, hn::Add(n, two)};
}

HWY_INLINE Vec mish_value(Vec x) {
  const Mish m = mish_parts(x);
  return hn::Mul(x, hn::Div(m.n, m.whole));
}

// t + x (1 - t^2) e / (1 + e) with t = n / (n + 2) and 1 - t^2 = 4 (1 + e)^2 / (n + 2)^2.
HWY_INLINE Vec mish_slope(Vec x) {
  const F32 f;
  const Mish m = mish_parts(x);
  const Vec share = hn::Div(hn::Set(f, 1.0F), m.whole);
  const Vec step = hn::Mul(hn::Mul(hn::Set(f, 4.0F), m.e), hn::Add(hn::Set(f, 1.0F), m.e));
  const Vec change = hn::Mul(m.x, hn::Mul(hn::Mul(step, share), share));
  return hn::MulAdd(m.n, share, change);
}

UNARY_SIMD(mish, mish_value(x))
UNARY_GRAD_SIMD(mish, x, hn::Mul(dy, mish_slope(x)))

}  // namespace thimble::ops::mish_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(mish)
