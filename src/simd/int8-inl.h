// Parts of int8 convolutions: words of neighbouring taps, and how sums become int8. Included once
// per vector target.

#if defined(THIMBLE_SIMD_INT8_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_INL_H_
#undef THIMBLE_SIMD_INT8_INL_H_
#else
#define THIMBLE_SIMD_INT8_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "simd/int8.h"
#include "simd/int8_scratch.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

using I32 = hn::ScalableTag<int32_t>;
using VecI = hn::Vec<I32>;
using I8 = hn::Rebind<int8_t, I32>;

#undef THIMBLE_INT8_VNNI
#if HWY_TARGET == HWY_AVX3 && (HWY_COMPILER_GCC_ACTUAL || HWY_COMPILER_CLANG)
#define THIMBLE_INT8_VNNI 1
#else
#define THIMBLE_INT8_VNNI 0
#endif

// Words of two numbers of 16 bits.
struct Pairs {
  using Element = int16_t;
  static constexpr int kUnit = 2;

  // sum + the products of the numbers in a word, in every lane.
  static HWY_INLINE VecI dot(VecI sum, VecI a, VecI b) {
#if HWY_TARGET == HWY_AVX3
    return VecI{_mm512_add_epi32(sum.raw, _mm512_madd_epi16(a.raw, b.raw))};
#elif HWY_TARGET == HWY_AVX2
    return VecI{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(a.raw, b.raw))};
#elif HWY_TARGET == HWY_SSE2
    return VecI{_mm_add_epi32(sum.raw, _mm_madd_epi16(a.raw, b.raw))};
#else
    const VecI low =
        hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a)), hn::ShiftRight<16>(hn::ShiftLeft<16>(b)));
    const VecI high = hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b));
    return hn::Add(sum, hn::Add(low, high));
#endif
  }
  static Element padding(int /*zero*/) { return 0; }
  static HWY_INLINE void copy(Element* to, const int8_t* from, int count, int zero) {
    copy_vectors<hn::CappedTag<int16_t, 8>>(to, from, count, zero);
  }
  template <class D>
  static HWY_INLINE void copy_vectors(Element* to, const int8_t* from, int count, int zero) {
    const D d16;
    const hn::Rebind<int8_t, D> d8;
    const auto less = hn::Set(d16, static_cast<int16_t>(zero));
    const auto step = static_cast<int>(hn::Lanes(d16));
    const auto at = [&](int i) HWY_ATTR {
      hn::StoreU(hn::Sub(hn::PromoteTo(d16, hn::LoadU(d8, from + i)), less), d16, to + i);
    };
    int i = 0;
    for (; i + step <= count; i += step) at(i);
    if (i < count && count >= step) at(count - step);  // once more for some
    if (count >= step) return;
    for (; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
  }
  // Two weights.
  static HWY_INLINE int32_t word(const int8_t* w) {
    const auto high = static_cast<uint32_t>(static_cast<uint16_t>(w[1])) << 16;
    return static_cast<int32_t>(static_cast<uint16_t>(w[0]) | high);
  }
  // Where the sums of a vector of channels with these packed weights begin; stride: between words.
  static HWY_INLINE VecI start(const int32_t* /*weights*/, int /*words*/, int64_t /*stride*/,
                               int /*zero*/) {
    return hn::Zero(I32());
  }
  // A word a channel of kCount rows; load(i): row i's int8.
  template <int kCount, class Load>
  static HWY_INLINE VecI gather(const Load& load, int zero) {
    const I32 d;
    const VecI less = hn::Set(d, zero);
    const VecI low = hn::And(hn::Sub(hn::PromoteTo(d, load(0)), less), hn::Set(d, 0xFFFF));
    if constexpr (kCount == 1) return low;
    return hn::Or(low, hn::ShiftLeft<16>(hn::Sub(hn::PromoteTo(d, load(1)), less)));
  }
};

#if THIMBLE_INT8_VNNI
// Words of four bytes, of x without sign.
struct Quads {
  using Element = uint8_t;
  static constexpr int kUnit = 4;

  static HWY_INLINE VecI dot(VecI sum, VecI a, VecI b) {
    // Highway's AVX3 target does not include the instruction; the caller has asked the processor.
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
  static Element padding(int zero) { return static_cast<uint8_t>(zero + 128); }
  static HWY_INLINE void copy(Element* to, const int8_t* from, int count, int /*zero*/) {
    copy_vectors<hn::CappedTag<uint8_t, 16>>(to, from, count);
  }
  template <class D>
  static HWY_INLINE void copy_vectors(Element* to, const int8_t* from, int count) {
    const D d8;
    const auto sign = hn::Set(d8, uint8_t{0x80});
    const auto* const bytes = reinterpret_cast<const uint8_t*>(from);
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto at = [&](int i) HWY_ATTR {
      hn::StoreU(hn::Xor(hn::LoadU(d8, bytes + i), sign), d8, to + i);
    };
    int i = 0;
    for (; i + step <= count; i += step) at(i);
    if (i < count && count >= step) at(count - step);  // once more for some
    if (count >= step) return;
    for (; i < count; ++i) to[i] = static_cast<uint8_t>(bytes[i] ^ 0x80U);
  }
  // Four weights.
  static HWY_INLINE int32_t word(const int8_t* w) {
    int32_t four = 0;
    std::memcpy(&four, w, sizeof(four));
    return four;
  }
  // x + 128 stands for x less its zero point: the sum of the weights is too much 128 + zero times.
  static HWY_INLINE VecI start(const int32_t* weights, int words, int64_t stride, int zero) {
    const I32 d;
    const VecI ones = hn::Set(d, 0x01010101);
    VecI sum = hn::Zero(d);
    for (int word = 0; word < words; ++word) {
      sum = dot(sum, ones, hn::Load(d, weights + word * stride));
    }
    return hn::Mul(sum, hn::Set(d, -(128 + zero)));
  }
  template <int kCount, class Load>
  static HWY_INLINE VecI gather(const Load& load, int /*zero*/) {
    const I32 d;
    const hn::Rebind<uint8_t, I32> bytes;
    const auto row = [&](int i) HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(bytes, load(i))); };
    VecI word = row(0);
    if constexpr (kCount > 1) word = hn::Or(word, hn::ShiftLeft<8>(row(1)));
    if constexpr (kCount > 2) word = hn::Or(word, hn::ShiftLeft<16>(row(2)));
    if constexpr (kCount > 3) word = hn::Or(word, hn::ShiftLeft<24>(row(3)));
    return hn::Xor(word, hn::Set(d, static_cast<int32_t>(0x80808080U)));
  }
};
#endif

// Factors that turn the sums of a vector of channels into results. Loops copy it, so that its
// fields stay in registers: stores of int8 could change any object that others see.
class Finish {
 public:
  // folds: sums contain the bias. shifts_down: no factor of fixed point is above 1.
  Finish(const Int8Result& result, const Int8Scratch& s, bool folds, bool shifts_down)
      : result_(result),
        s_(s),
        folds_(folds),
        is_fixed_(result.out.fixed_point != 0),
        one_by_one_(is_fixed_ && (!shifts_down || lanes() == 1)),
        low_(static_cast<float>(result.out.low - result.out.zero_point)),
        high_(static_cast<float>(result.out.high - result.out.zero_point)) {}

  // k: the channel in the scratch; first: the channel of factors[0]; count: channels stored.
  HWY_INLINE void store(VecI sum, int8_t* to, int k, int first, int count) const {
    const I32 d;
    const VecI whole = folds_ ? sum : add_bias(sum, k);
    if (one_by_one_) {
      alignas(64) int32_t sums[kInt8MostLanes];
      hn::Store(whole, d, sums);
      const quantized_result out = result_.out;
      for (int i = 0; i < count; ++i) {
        to[i] = quantized_requantize(sums[i], result_.factors + first + i, &out);
      }
      return;
    }
    // Bounds are less the zero point, so that nothing leaves int32.
    const VecI near = is_fixed_ ? fixed(whole, k) : floating(whole, k);
    const VecI y = hn::Add(near, hn::Set(d, result_.out.zero_point));
    if (count == lanes()) {
#if HWY_TARGET == HWY_AVX3
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(y.raw));
#else
      hn::StoreU(hn::DemoteTo(I8(), y), I8(), to);
#endif
      return;
    }
    alignas(64) int32_t numbers[kInt8MostLanes] = {};
    hn::Store(y, d, numbers);
    for (int i = 0; i < count; ++i) to[i] = static_cast<int8_t>(numbers[i]);
  }

#if THIMBLE_INT8_VNNI
  // Four vectors whose channels are interleaved (int8_channel_at); k: the position of the first.
  HWY_INLINE void store_wide(const VecI* sums, int8_t* to, int k) const {
    __m512i y[4];
    THIMBLE_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int at = k + v * kInt8MostLanes;
      const VecI whole = folds_ ? sums[v] : add_bias(sums[v], at);
      y[v] = (is_fixed_ ? fixed(whole, at) : floating(whole, at)).raw;
    }
    const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(result_.out.zero_point));
    const __m512i low = _mm512_add_epi16(_mm512_packs_epi32(y[0], y[1]), zero);
    const __m512i high = _mm512_add_epi16(_mm512_packs_epi32(y[2], y[3]), zero);
    _mm512_storeu_si512(to, _mm512_packs_epi16(low, high));
  }
#endif

 private:
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
    const VecI high = high_product(sum, hn::LoadU(d, s_.multiplier + k));
    const VecI shift = hn::LoadU(d, s_.shift + k);
    const VecI one = hn::Set(d, 1);
    const VecI mask = hn::Sub(hn::Shl(one, shift), one);
    // Half of the divisor, and one more below 0: halves go away from zero.
    const VecI threshold = hn::Sub(hn::ShiftRight<1>(mask), hn::ShiftRight<31>(high));
    const auto up = hn::Gt(hn::And(high, mask), threshold);
    const VecI near = hn::Sub(hn::Shr(high, shift), hn::VecFromMask(d, up));
    return hn::Min(hn::Max(near, hn::Set(d, result_.out.low - result_.out.zero_point)),
                   hn::Set(d, result_.out.high - result_.out.zero_point));
#endif
  }
#if HWY_TARGET != HWY_SCALAR
  // The upper halves of 2ab, halves up: (a b + 2^30) / 2^31 to below, of which the lowest 32 bits
  // are the same for numbers without sign. b: at least 0.
  static HWY_INLINE VecI high_product(VecI a, VecI b) {
    const I32 d;
    const hn::Repartition<uint64_t, I32> wide;
    const auto half = hn::Set(wide, uint64_t{1} << 30);
    const auto product = [&](VecI x, VecI y) HWY_ATTR {
      return hn::ShiftRight<31>(hn::Add(hn::BitCast(wide, hn::MulEven(x, y)), half));
    };
    const auto even = product(a, b);
    const auto odd = product(hn::Shuffle2301(a), hn::Shuffle2301(b));
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  }
#endif

  Int8Result result_;
  Int8Scratch s_;
  bool folds_;
  bool is_fixed_;
  bool one_by_one_;  // in fixed point
  float low_;        // of results less their zero point
  float high_;
};

// Whether no sum of a window with its bias can leave int32.
inline bool can_fold(const int32_t* bias, int first, int count, int64_t taps) {
  constexpr int32_t kMostBias = 1 << 30;
  constexpr int64_t kMostTaps = 32768;  // times 255 * 128: below 2^30
  if (taps > kMostTaps) return false;
  return bias == nullptr || std::all_of(bias + first, bias + first + count,
                                        [](int32_t b) { return b > -kMostBias && b < kMostBias; });
}

// Bias and factors of the channels [first, first + count), zeros behind them. Whether no factor of
// fixed point is above 1. wide: channels that are interleaved (int8_channel_at).
inline bool prepare_channels(const Int8Scratch& s, const int32_t* bias, const Int8Result& result,
                             int first, int count, int wide = 0) {
  const int padded = static_cast<int>(round_up(count, kInt8MostLanes));
  bool shifts_down = true;
  for (int k = 0; k < padded; ++k) {
    const int channel = first + int8_channel_at(k, wide);
    const quantized_factor f = k < count ? result.factors[channel] : quantized_factor{};
    s.bias[k] = bias != nullptr && k < count ? bias[channel] : 0;
    s.scale[k] = f.scale;
    s.multiplier[k] = f.multiplier;
    s.shift[k] = -f.shift;
    shifts_down = shifts_down && f.shift <= 0;
  }
  return shifts_down;
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
