// The fixed-point arithmetic of requantize.h in every lane. Included once per vector target.

#if defined(THIMBLE_SIMD_FIXED_POINT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_FIXED_POINT_INL_H_
#undef THIMBLE_SIMD_FIXED_POINT_INL_H_
#else
#define THIMBLE_SIMD_FIXED_POINT_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

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
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
