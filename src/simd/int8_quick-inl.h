// Results of int8 convolutions whose rounding takes few instructions, four vectors at once. For
// AVX-512; included once per vector target.

#if defined(THIMBLE_SIMD_INT8_QUICK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_QUICK_INL_H_
#undef THIMBLE_SIMD_INT8_QUICK_INL_H_
#else
#define THIMBLE_SIMD_INT8_QUICK_INL_H_
#endif

#include <hwy/highway.h>

#include "simd/int8-inl.h"
#include "simd/int8_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
// Where Finish::is_quick; kFixed: of fixed point. Holds constants in registers.
template <bool kFixed>
class QuickFinish {
 public:
  struct Factors {
    __m512 scale;
    __m512i nudge;  // of fixed point
    int position;
  };
  QuickFinish(const Finish& finish, const Int8Scratch& s)
      : finish_(finish),
        scratch_(s),
        is_bounded_(finish.is_bounded()),
        bounds_(finish.out()),
        order_(Finish::order()) {}

  // Of a vector of channels; k: its position in the scratch.
  [[nodiscard]] HWY_INLINE Factors factors(int k) const {
    return {_mm512_loadu_ps(scratch_.scale + k),
            kFixed ? _mm512_loadu_si512(scratch_.nudge + k) : _mm512_setzero_si512(), k};
  }

  // The results of four vectors, one after the other.
  [[nodiscard]] HWY_INLINE __m512i bytes(__m512i sum0, __m512i sum1, __m512i sum2, __m512i sum3,
                                         const Factors& by0, const Factors& by1, const Factors& by2,
                                         const Factors& by3) const {
    __m512i y[4];
    if constexpr (kFixed) {
      __m512 rest[4];
      y[0] = Finish::nearly_fixed(sum0, by0.scale, by0.nudge, rest[0]);
      y[1] = Finish::nearly_fixed(sum1, by1.scale, by1.nudge, rest[1]);
      y[2] = Finish::nearly_fixed(sum2, by2.scale, by2.nudge, rest[2]);
      y[3] = Finish::nearly_fixed(sum3, by3.scale, by3.nudge, rest[3]);
      if (HWY_UNLIKELY(Finish::is_unsure<4>(rest))) {
        return finish_.exact_bytes(sum0, sum1, sum2, sum3, by0.position, by1.position, by2.position,
                                   by3.position);
      }
    } else {
      y[0] = scaled(sum0, by0);
      y[1] = scaled(sum1, by1);
      y[2] = scaled(sum2, by2);
      y[3] = scaled(sum3, by3);
    }
    const __m512i all = is_bounded_ ? Finish::pack(y, bounds_) : Finish::pack_whole(y, bounds_);
    return _mm512_permutexvar_epi32(order_, all);
  }

 private:
  // Within int32; what follows saturates.
  static HWY_INLINE __m512i scaled(__m512i sum, const Factors& by) {
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), by.scale));
  }

  const Finish& finish_;
  const Int8Scratch& scratch_;
  bool is_bounded_;
  Finish::Bounds bounds_;
  __m512i order_;
};
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
