// The fixed-point arithmetic of requantize.h in every lane. Included once per vector target.

#if defined(THIMBLE_SIMD_FIXED_POINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_FIXED_POINT_INL_H_
#undef THIMBLE_SIMD_FIXED_POINT_INL_H_
#else
#define THIMBLE_SIMD_FIXED_POINT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "simd/requantize.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// quantized_high_product: the upper halves of 2ab, halves up: (a b + 2^30) / 2^31 to below, of
// which the lowest 32 bits are the same for numbers without sign. b: at least 0.
template <class V>
HWY_INLINE V fixed_high_product(V a, V b) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint64_t, decltype(d)> wide;
  const auto half = hn::Set(wide, uint64_t{1} << 30);
  const auto product = [&](V x, V y) HWY_ATTR {
    return hn::ShiftRight<31>(hn::Add(hn::BitCast(wide, hn::MulEven(x, y)), half));
  };
  const auto even = product(a, b);
  const auto odd = product(hn::Shuffle2301(a), hn::Shuffle2301(b));
  return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// quantized_shift_down: v / 2^shift, halves away from zero. shift: 0 to 31.
template <class V>
HWY_INLINE V fixed_shift_down(V v, V shift) {
  const hn::DFromV<V> d;
  const V one = hn::Set(d, 1);
  const V mask = hn::Sub(hn::Shl(one, shift), one);
  // Half of the divisor, and one more below 0.
  const V threshold = hn::Sub(hn::ShiftRight<1>(mask), hn::ShiftRight<31>(v));
  const auto up = hn::Gt(hn::And(v, mask), threshold);
  return hn::Sub(hn::Shr(v, shift), hn::VecFromMask(d, up));
}

// A factor of fixed point with a shift down, the same in every lane.
class FixedFactor {
 public:
  explicit FixedFactor(const quantized_factor& f)
      : multiplier_(f.multiplier),
        up_((int64_t{1} << 30) + (f.shift < 0 ? int64_t{1} << (30 - f.shift) : 0)),
        less_(f.shift < 0 ? int64_t{1} << 31 : 0),
        shift_(31 - f.shift) {}

  // quantized_times. With s > 0 shifts it is (h + 2^(s-1) - [h < 0]) >> s of h = (v * multiplier +
  // 2^30) >> 31, and so (v * multiplier + 2^30 + 2^(30+s) - [v < 0] 2^31) >> (31 + s): h is below 0
  // where v is, except for -1 * 2^30, of which both are 0.
  template <class V>
  HWY_INLINE V times(V v) const {
    const hn::DFromV<V> d;
    const hn::Repartition<int64_t, decltype(d)> wide;
    const auto half = [&](V x) HWY_ATTR {
      const auto product = hn::MulEven(x, hn::Set(d, multiplier_));
      const auto less = hn::And(hn::BroadcastSignBit(product), hn::Set(wide, less_));
      return hn::ShiftRightSame(hn::Sub(hn::Add(product, hn::Set(wide, up_)), less), shift_);
    };
    const auto even = half(v);
    const auto odd = half(hn::Shuffle2301(v));
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  }

 private:
  int32_t multiplier_;
  int64_t up_, less_;
  int shift_;
};
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
