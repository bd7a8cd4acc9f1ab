#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::softsign_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE Vec softsign_slope(Vec y) {
  const Vec rest = hn::Sub(hn::Set(F32(), 1.0F), hn::Abs(y));
  return hn::Mul(rest, rest);
}

UNARY_SIMD(softsign, hn::Div(x, hn::Add(hn::Set(f, 1.0F), hn::Abs(x))))
UNARY_GRAD_SIMD(softsign, y, hn::Mul(dy, softsign_slope(y)))

}  // namespace thimble::ops::softsign_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(softsign)
