#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sign_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The sign of a number other than 0.
HWY_INLINE Vec sign_of(Vec x) {
  const Vec unit = hn::CopySign(hn::Set(F32(), 1.0F), x);
  return hn::IfThenElse(hn::IsNaN(x), x, unit);
}

UNARY_SIMD(sign, hn::IfThenElse(hn::Ne(x, hn::Zero(f)), sign_of(x), x))

}  // namespace thimble::ops::sign_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT_LINEAR(sign)
