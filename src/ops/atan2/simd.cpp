#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"
#include "simd/trigonometry-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::atan2_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The angle in the first octant, mapped to its octant by the signs and the larger coordinate.
HWY_INLINE Vec angle(Vec a, Vec b) {
  const F32 f;
  const Vec rise = hn::Abs(a);
  const Vec run = hn::Abs(b);
  const auto steep = hn::Gt(rise, run);
  const Vec large = hn::IfThenElse(steep, rise, run);
  const Vec small = hn::IfThenElse(steep, run, rise);
  // Equal coordinates, including zeros and infinities, whose quotient would be NaN: the angle of 1,
  // or 0.
  const Vec one = hn::Set(f, 1.0F);
  const Vec zero = hn::Zero(f);
  const Vec of_equals = hn::IfThenElse(hn::Eq(large, zero), zero, one);
  const Vec ratio = hn::IfThenElse(hn::Eq(small, large), of_equals, hn::Div(small, large));
  Vec y = simd::HWY_NAMESPACE::atan(ratio);
  y = hn::IfThenElse(steep, hn::Sub(hn::Set(f, 1.57079632679F), y), y);
  const auto left = hn::Lt(hn::CopySign(one, b), zero);
  y = hn::IfThenElse(left, hn::Sub(hn::Set(f, 3.14159265359F), y), y);
  y = hn::CopySign(y, a);
  const Vec sum = hn::Add(rise, run);
  return hn::IfThenElse(hn::IsNaN(sum), sum, y);
}

BINARY_SIMD(atan2, angle(a, b))

}  // namespace thimble::ops::atan2_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(atan2)
