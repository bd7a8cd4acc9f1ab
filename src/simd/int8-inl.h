// How the sums of int8 convolutions become int8. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_INL_H_
#undef THIMBLE_SIMD_INT8_INL_H_
#else
#define THIMBLE_SIMD_INT8_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "simd/fixed_point-inl.h"
#include "simd/int8.h"
#include "simd/int8_scratch.h"
#include "simd/int8_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Factors that turn the sums of a vector of channels into results. Loops copy it, so that its
// fields stay in registers: stores of int8 could change any object that others see.
class Finish {
 public:
  Finish(const Int8Result& result, const Int8Scratch& s)
      : result_(result),
        s_(s),
        folds_(s.factors->folds),
        is_fixed_(result.out.fixed_point != 0),
        one_by_one_(is_fixed_ && (!s.factors->below_one || lanes() == 1)),
        only_scales_(!is_fixed_ && folds_ && s.factors->below_one),
        in_float_(is_fixed_ && s.factors->below_one),
        low_(static_cast<float>(result.out.low - result.out.zero_point)),
        high_(static_cast<float>(result.out.high - result.out.zero_point)) {}

  [[nodiscard]] HWY_INLINE bool goes_one_by_one() const { return one_by_one_; }
  [[nodiscard]] const quantized_result& out() const { return result_.out; }
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  // Whether the bounds are others than those of int8.
  [[nodiscard]] bool is_bounded() const {
    return result_.out.low > INT8_MIN || result_.out.high < INT8_MAX;
  }
  // Whether sums times factors in float are the results, or tell where they may not be.
  [[nodiscard]] bool is_quick() const { return folds_ && (only_scales_ || in_float_); }

  // k: the position in the scratch; first: its channel, of factors; count: channels stored.
  HWY_INLINE void store(VecI sum, int8_t* to, int k, int first, int count) const {
    if (one_by_one_) return Finish(*this).store_few(sum, to, k, first, count);
#if HWY_TARGET == HWY_AVX3
    const __m512i all = _mm512_permutexvar_epi32(order(), narrow<1>(&sum, k));
    store_some(_mm512_castsi512_si128(all), to, count);
#else
    if (count != lanes()) return Finish(*this).store_few(sum, to, k, first, count);
    const VecI y = result(sum, k);
    hn::StoreU(hn::DemoteTo(I8(), y), I8(), to);
#endif
  }

#if HWY_TARGET == HWY_AVX3
  // What results without their zero point become.
  struct Bounds {
    explicit Bounds(const quantized_result& out)
        : zero(_mm512_set1_epi16(static_cast<int16_t>(out.zero_point))),
          low(_mm512_set1_epi8(static_cast<char>(out.low))),
          high(_mm512_set1_epi8(static_cast<char>(out.high))) {}
    __m512i zero, low, high;
  };
  // int8 of four vectors: in every 16 bytes, 4 of each. Of all numbers of int8, whatever the
  // bounds.
  static HWY_INLINE __m512i pack_whole(const __m512i* y, const Bounds& bounds) {
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(y[0], y[1]), bounds.zero);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(y[2], y[3]), bounds.zero);
    return _mm512_packs_epi16(low, high);
  }
  static HWY_INLINE __m512i pack(const __m512i* y, const Bounds& bounds) {
    const __m512i all = pack_whole(y, bounds);
    return _mm512_max_epi8(_mm512_min_epi8(all, bounds.high), bounds.low);
  }
  // Brings the results of pack() into the order of the vectors.
  static HWY_INLINE __m512i order() {
    return _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  }

  // quantized_times in float: the integer nearest to v * scale + nudge, with the sign of v, where
  // scale is multiplier * 2^(shift - 31); the nudge is what the first of the two roundings, halves
  // up, adds to the second one. The float differs from that number by less than 2^-14 where it is
  // below 256, and beyond, the bounds decide. rest: its distance to the integer.
  static HWY_INLINE __m512i nearly_fixed(__m512i v, __m512 scale, __m512i nudge, __m512& rest) {
    constexpr int kOr = 0xEA;  // (a & b) | c
    const __m512 real = _mm512_cvtepi32_ps(v);
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    const __m512 toward =
        _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(real), sign, nudge, kOr));
    const __m512 scaled = _mm512_fmadd_ps(real, scale, toward);
    rest = _mm512_reduce_ps(scaled, 0);
    return _mm512_cvtps_epi32(scaled);
  }
  // Whether one of these distances is so large that its integer may be wrong.
  template <int kVectors>
  static HWY_INLINE bool is_unsure(const __m512* rest) {
    const auto largest = [](__m512 a, __m512 b) HWY_ATTR {
      return _mm512_range_ps(a, b, 0b1011);  // of absolute values
    };
    __m512 most = largest(rest[0], rest[kVectors - 1]);
    if constexpr (kVectors > 2) most = largest(most, largest(rest[1], rest[2]));
    constexpr float kSure = 0.5F - 0x1p-14F;
    return _mm512_cmp_ps_mask(most, _mm512_set1_ps(kSure), _CMP_GT_OQ) != 0;
  }

  // Four vectors whose channels are interleaved (int8_channel_at); k: the position of the first.
  HWY_INLINE void store_wide(const VecI* sums, int8_t* to, int k) const {
    _mm512_storeu_si512(to, narrow<4, kInt8MostLanes, true>(sums, k));
  }
  // The results of four vectors at these positions in fixed point, in this order.
  HWY_NOINLINE __m512i exact_bytes(__m512i sum0, __m512i sum1, __m512i sum2, __m512i sum3,
                                   int position0, int position1, int position2,
                                   int position3) const {
    const __m512i y[4] = {rounded(VecI{sum0}, position0).raw, rounded(VecI{sum1}, position1).raw,
                          rounded(VecI{sum2}, position2).raw, rounded(VecI{sum3}, position3).raw};
    return _mm512_permutexvar_epi32(order(), pack(y, Bounds(result_.out)));
  }
  // `count` channels of four pixels of a vector; to: their results, channel: of the vector there,
  // k: its position.
  HWY_INLINE void store_pixels(const VecI* sums, int8_t* const* to, int64_t channel, int k,
                               int count) const {
    if (count == kInt8MostLanes / 2) return store_halves(sums, to, channel, k);
    const __m512i all = _mm512_permutexvar_epi32(order(), narrow<4, 0>(sums, k));
    if (count == kInt8MostLanes && to[1] == to[0] + count && to[2] == to[1] + count &&
        to[3] == to[2] + count) {
      return _mm512_storeu_si512(to[0] + channel, all);
    }
    store_some(_mm512_castsi512_si128(all), to[0] + channel, count);
    store_some(_mm512_extracti32x4_epi32(all, 1), to[1] + channel, count);
    store_some(_mm512_extracti32x4_epi32(all, 2), to[2] + channel, count);
    store_some(_mm512_extracti32x4_epi32(all, 3), to[3] + channel, count);
  }
  // Whole vectors; k: the position of the first; last: where the channels of the last vector begin
  // in `to`, at most behind those of the others.
  template <int kVectors>
  HWY_INLINE void store_vectors(const VecI* sums, int8_t* to, int k, int last) const {
    const __m512i all = _mm512_permutexvar_epi32(order(), narrow<kVectors>(sums, k));
    const __m256i low = _mm512_castsi512_si256(all);
    if constexpr (kVectors == 4) {
      if (last == 3 * kInt8MostLanes) return _mm512_storeu_si512(to, all);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
      store_16(_mm512_extracti32x4_epi32(all, 2), to + 2 * kInt8MostLanes);
      store_16(_mm512_extracti32x4_epi32(all, 3), to + last);
    } else if constexpr (kVectors == 3) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
      store_16(_mm512_extracti32x4_epi32(all, 2), to + last);
    } else if constexpr (kVectors == 2) {
      store_16(_mm512_castsi512_si128(all), to);
      store_16(_mm256_extracti128_si256(low, 1), to + last);
    } else {
      store_16(_mm512_castsi512_si128(all), to + last);
    }
  }
#endif

 private:
#if HWY_TARGET == HWY_AVX3
  // Four pixels of half a vector, two of them at once: prepare_channels repeats the factors.
  HWY_INLINE void store_halves(const VecI* sums, int8_t* const* to, int64_t channel, int k) const {
    const auto join = [](VecI a, VecI b) HWY_ATTR {
      return VecI{_mm512_inserti64x4(a.raw, _mm512_castsi512_si256(b.raw), 1)};
    };
    const VecI two[2] = {join(sums[0], sums[1]), join(sums[2], sums[3])};
    const __m512i all = _mm512_permutexvar_epi32(order(), narrow<2, 0>(two, k));
    const auto store_two = [&](__m128i v, int first) HWY_ATTR {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to[first] + channel), v);
      _mm_storel_epi64(reinterpret_cast<__m128i*>(to[first + 1] + channel),
                       _mm_unpackhi_epi64(v, v));
    };
    store_two(_mm512_castsi512_si128(all), 0);
    store_two(_mm512_extracti32x4_epi32(all, 1), 2);
  }
#endif
  // Of fewer channels than lanes, or where each channel goes alone. Like the other functions that
  // are not inlined, it is called on a copy: the address of the object is then not known elsewhere.
  HWY_NOINLINE void store_few(VecI sum, int8_t* to, int k, int first, int count) const {
    const I32 d;
    alignas(64) int32_t numbers[kInt8MostLanes] = {};
    if (one_by_one_) {
      hn::Store(folds_ ? sum : add_bias(sum, k), d, numbers);
      const quantized_result out = result_.out;
      for (int i = 0; i < count; ++i) {
        to[i] = quantized_requantize(numbers[i], result_.factors + first + i, &out);
      }
      return;
    }
    hn::Store(result(sum, k), d, numbers);
    for (int i = 0; i < count; ++i) to[i] = static_cast<int8_t>(numbers[i]);
  }

  // The result without the zero point, in 32 bits, which it cannot leave.
  HWY_INLINE VecI rounded(VecI sum, int k) const {
    const VecI whole = folds_ ? sum : add_bias(sum, k);
    return is_fixed_ ? fixed(whole, k) : floating(whole, k);
  }
  HWY_INLINE VecI result(VecI sum, int k) const {
    return hn::Add(rounded(sum, k), hn::Set(I32(), result_.out.zero_point));
  }

#if HWY_TARGET == HWY_AVX3
  static HWY_INLINE void store_16(__m128i v, int8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
  }
  static HWY_INLINE void store_some(__m128i v, int8_t* to, int count) {
    if (count == kInt8MostLanes) return store_16(v, to);
    _mm_mask_storeu_epi8(to, static_cast<__mmask16>((1U << count) - 1), v);
  }
  // Results of up to four vectors: in every 16 bytes, 4 of each. kStep: between their positions.
  // kInlined: no call, which is faster and takes much longer to compile.
  template <int kVectors, int kStep = kInt8MostLanes, bool kInlined = false>
  HWY_INLINE __m512i narrow(const VecI* sums, int k) const {
    __m512i y[4];
    if (only_scales_) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        // Within int32; what follows saturates.
        const __m512 scale = _mm512_loadu_ps(s_.scale + k + v * kStep);
        y[v] = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[v].raw), scale));
      }
    } else if (in_float_) {
      VecI whole[kVectors];
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        whole[v] = folds_ ? sums[v] : add_bias(sums[v], k + v * kStep);
      }
      __m512 rest[kVectors];
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const int at = k + v * kStep;
        y[v] = nearly_fixed(whole[v].raw, _mm512_loadu_ps(s_.scale + at),
                            _mm512_loadu_si512(s_.nudge + at), rest[v]);
      }
      if (HWY_UNLIKELY(is_unsure<kVectors>(rest))) {
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) y[v] = whole[v].raw;
        Finish(*this).fix_all<kVectors>(y, k, kStep);
      }
    } else if constexpr (kInlined) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) y[v] = rounded(sums[v], k + v * kStep).raw;
    } else {
      __m512i rest[kVectors];
      for (int v = 0; v < kVectors; ++v) rest[v] = sums[v].raw;
      Finish(*this).round_all<kVectors>(rest, k, kStep);
      for (int v = 0; v < kVectors; ++v) y[v] = rest[v];
    }
    THIMBLE_UNROLL
    for (int v = kVectors; v < 4; ++v) y[v] = y[kVectors - 1];
    return pack(y, Bounds(result_.out));
  }
  template <int kVectors>
  HWY_NOINLINE void fix_all(__m512i* y, int k, int step) const {
    for (int v = 0; v < kVectors; ++v) y[v] = fixed(VecI{y[v]}, k + v * step).raw;
  }
  template <int kVectors>
  HWY_NOINLINE void round_all(__m512i* y, int k, int step) const {
    for (int v = 0; v < kVectors; ++v) y[v] = rounded(VecI{y[v]}, k + v * step).raw;
  }
#endif

  // The sum with the bias, which saturates.
  HWY_INLINE VecI add_bias(VecI sum, int k) const {
    const I32 d;
    const VecI bias = hn::LoadU(d, s_.bias + k);
    const VecI plain = hn::Add(sum, bias);
    // Both of one sign and their sum of the other: it is beyond int32.
    const auto beyond = hn::Lt(hn::And(hn::Xor(sum, plain), hn::Xor(bias, plain)), hn::Zero(d));
    const VecI bound = hn::Xor(hn::ShiftRight<31>(sum), hn::Set(d, INT32_MAX));
    return hn::IfThenElse(beyond, bound, plain);
  }

  // Bounds are whole numbers, so it does not matter that they come before the rounding.
  HWY_INLINE VecI floating(VecI sum, int k) const {
    const F32 f;
    const Vec scaled = hn::Mul(hn::ConvertTo(f, sum), hn::LoadU(f, s_.scale + k));
    return nearest(hn::Min(hn::Max(scaled, hn::Set(f, low_)), hn::Set(f, high_)));
  }
  // Of numbers within int32, which Highway's conversion need not correct.
  static HWY_INLINE VecI nearest(Vec v) {
#if HWY_TARGET == HWY_AVX3
    return VecI{_mm512_cvtps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VecI{_mm256_cvtps_epi32(v.raw)};
#else
    return hn::NearestInt(v);
#endif
  }

  // quantized_times for shifts down, in every lane.
  HWY_INLINE VecI fixed(VecI sum, int k) const {
#if HWY_TARGET == HWY_SCALAR
    static_cast<void>(k);
    return sum;  // goes one by one
#else
    const I32 d;
    const VecI high = fixed_high_product(sum, hn::LoadU(d, s_.multiplier + k));
    const VecI near = fixed_shift_down(high, hn::LoadU(d, s_.shift + k));
    return hn::Min(hn::Max(near, hn::Set(d, result_.out.low - result_.out.zero_point)),
                   hn::Set(d, result_.out.high - result_.out.zero_point));
#endif
  }
  Int8Result result_;
  Int8Scratch s_;
  bool folds_;
  bool is_fixed_;
  bool one_by_one_;  // in fixed point
  [[maybe_unused]] bool
      only_scales_;                 // in float: sums with their bias times scales stay within int32
  [[maybe_unused]] bool in_float_;  // in fixed point: nearly_fixed gives results
  float low_;                       // of results less their zero point
  float high_;
};

// Whether no sum of a window with its bias can leave int32.
inline bool can_fold(const int32_t* bias, int first, int count, int64_t taps) {
  if (taps > INT32_MAX / (255 * 128)) return false;
  const int64_t most = INT32_MAX - taps * 255 * 128;
  return bias == nullptr || std::all_of(bias + first, bias + first + count,
                                        [most](int32_t b) { return b >= -most && b <= most; });
}

// Writes bias and factors of the positions [0, count), zeros up to a whole number of
// kInt8MostLanes, or those of half as many twice, and what is known of the factors. channel_at(k):
// the channel at a position.
template <class ChannelAt>
void prepare_channels(const Int8Scratch& s, const int32_t* bias, const Int8Result& result,
                      int count, const ChannelAt& channel_at) {
  const int padded = static_cast<int>(round_up(count, kInt8MostLanes));
  const bool twice = 2 * count == kInt8MostLanes;
  s.factors->below_one = true;
  for (int k = 0; k < padded; ++k) {
    const bool exists = k < count || twice;
    const int channel = exists ? channel_at(k % count) : 0;
    const quantized_factor f = exists ? result.factors[channel] : quantized_factor{};
    s.bias[k] = exists && bias != nullptr ? bias[channel] : 0;
    const bool is_fixed = result.out.fixed_point != 0;
    s.scale[k] = is_fixed ? std::ldexp(static_cast<float>(f.multiplier), f.shift - 31) : f.scale;
    s.nudge[k] = is_fixed && f.shift < 0 ? std::ldexp(0.5F, f.shift) : 0.0F;
    s.multiplier[k] = f.multiplier;
    s.shift[k] = -f.shift;
    s.factors->below_one &= f.shift <= 0 && s.scale[k] <= 1.0F - 0x1p-24F;
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
