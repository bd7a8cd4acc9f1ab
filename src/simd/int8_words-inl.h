// Words of 32 bits that hold the numbers of neighbouring taps, which one instruction multiplies and
// adds. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_WORDS_INL_H_
#undef THIMBLE_SIMD_INT8_WORDS_INL_H_
#else
#define THIMBLE_SIMD_INT8_WORDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

using I32 = hn::ScalableTag<int32_t>;
using VecI = hn::Vec<I32>;
using I8 = hn::Rebind<int8_t, I32>;
#if HWY_TARGET != HWY_SCALAR
using FourWords = hn::FixedTag<int32_t, 4>;
#endif

#undef THIMBLE_INT8_VNNI
#undef THIMBLE_INT8_SDOT
#if HWY_TARGET == HWY_AVX3 && (HWY_COMPILER_GCC_ACTUAL || HWY_COMPILER_CLANG)
#define THIMBLE_INT8_VNNI 1
#else
#define THIMBLE_INT8_VNNI 0
#endif
#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64 && (HWY_COMPILER_GCC_ACTUAL || HWY_COMPILER_CLANG)
#define THIMBLE_INT8_SDOT 1
#else
#define THIMBLE_INT8_SDOT 0
#endif
// Lets the assembler take the instruction; the rest is what compilers use for older processors.
#undef THIMBLE_INT8_SDOT_ARCH
#ifdef __ARM_FEATURE_DOTPROD
#define THIMBLE_INT8_SDOT_ARCH
#else
#define THIMBLE_INT8_SDOT_ARCH ".arch armv8.2-a+crypto+fp16+sve+dotprod\n\t"
#endif
#undef THIMBLE_INT8_QUADS
#define THIMBLE_INT8_QUADS (THIMBLE_INT8_VNNI || THIMBLE_INT8_SDOT)

// Weight number i of a word of kUnit.
template <int kUnit>
HWY_INLINE uint32_t part_of_word(int8_t weight, int i) {
  constexpr int kBits = 32 / kUnit;
  constexpr uint32_t kMask = (1U << kBits) - 1;
  return (static_cast<uint32_t>(weight) & kMask) << (i * kBits);
}
// The word of so many weights.
template <class Words>
int32_t word_of(const int8_t* unit) {
  uint32_t word = 0;
  for (int i = 0; i < Words::kUnit; ++i) word |= part_of_word<Words::kUnit>(unit[i], i);
  return static_cast<int32_t>(word);
}

// The words of four numbers of a depthwise window of 3 x 3 neighbouring bytes: of each column its
// three, `step` words apart.
HWY_INLINE void words_of_three(int32_t* to, int64_t step, const int8_t* window) {
  uint64_t first = 0;   // bytes 0 to 7
  uint64_t second = 0;  // bytes 1 to 8
  std::memcpy(&first, window, sizeof(first));
  std::memcpy(&second, window + 1, sizeof(second));
  const auto column = [](uint64_t v) {  // its bytes 0, 3 and 6
    return static_cast<int32_t>((v & 0xff) | (v >> 16 & 0xff00) | (v >> 32 & 0xff0000));
  };
  to[0] = column(first);
  to[step] = column(first >> 8);
  to[2 * step] = column(second >> 8);
}

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
  // count: any; the vectors of a longer run may overlap.
  static HWY_INLINE void copy(Element* to, const int8_t* from, int count, int zero) {
    const hn::ScalableTag<int16_t> widest;
    if (count >= static_cast<int>(hn::Lanes(widest))) {
      copy_vectors(widest, to, from, count, zero);
    } else {
      copy_vectors(hn::CappedTag<int16_t, 8>(), to, from, count, zero);
    }
  }
  template <class D>
  static HWY_INLINE void copy_vectors(D d16, Element* to, const int8_t* from, int count, int zero) {
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
#if HWY_TARGET != HWY_SCALAR
  // Four words of weights.
  static HWY_INLINE hn::Vec<FourWords> four(const int8_t* w) {
    const hn::FixedTag<int16_t, 8> d16;
    const hn::FixedTag<int8_t, 8> d8;
    return hn::BitCast(FourWords(), hn::PromoteTo(d16, hn::LoadU(d8, w)));
  }
#endif
  // A word a channel of the weights of two taps; load(i): tap i's int8.
  template <class Load>
  static HWY_INLINE VecI join(const Load& load) {
    return gather<2>(load, 0);
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

#if THIMBLE_INT8_QUADS
// A word a channel of the bytes of kCount rows; load(i): row i's int8.
template <int kCount, class Load>
HWY_INLINE VecI join_bytes(const Load& load) {
  const I32 d;
  const hn::Rebind<uint8_t, I32> bytes;
  const auto row = [&](int i) HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(bytes, load(i))); };
  VecI word = row(0);
  if constexpr (kCount > 1) word = hn::Or(word, hn::ShiftLeft<8>(row(1)));
  if constexpr (kCount > 2) word = hn::Or(word, hn::ShiftLeft<16>(row(2)));
  if constexpr (kCount > 3) word = hn::Or(word, hn::ShiftLeft<24>(row(3)));
  return word;
}

// Words of four bytes: of x + 128 without sign with VNNI, and of x with Arm's dot product. The
// caller has asked the processor for the instruction, which Highway's target does not include.
struct Quads {
  static constexpr int kUnit = 4;
#if THIMBLE_INT8_VNNI
  using Element = uint8_t;
  static constexpr int kAdded = 128;  // to x
  static constexpr Element kFlipped = 0x80;

  static HWY_INLINE VecI dot(VecI sum, VecI a, VecI b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
#else
  using Element = int8_t;
  static constexpr int kAdded = 0;
  static constexpr Element kFlipped = 0;

  static HWY_INLINE VecI dot(VecI sum, VecI a, VecI b) {
    __asm__(THIMBLE_INT8_SDOT_ARCH "sdot %0.4s, %1.16b, %2.16b"
            : "+w"(sum.raw)
            : "w"(a.raw), "w"(b.raw));
    return sum;
  }
#endif

  static Element padding(int zero) { return static_cast<Element>(zero + kAdded); }
  // count: any; the vectors of a longer run may overlap.
  static HWY_INLINE void copy(Element* to, const int8_t* from, int count, int /*zero*/) {
    const auto* const bytes = reinterpret_cast<const Element*>(from);
    const hn::ScalableTag<Element> widest;
    if (count >= static_cast<int>(hn::Lanes(widest))) {
      copy_vectors(widest, to, bytes, count);
    } else {
      copy_vectors(hn::CappedTag<Element, 16>(), to, bytes, count);
    }
  }
  template <class D>
  static HWY_INLINE void copy_vectors(D d8, Element* to, const Element* from, int count) {
    const auto flipped = hn::Set(d8, kFlipped);
    const auto step = static_cast<int>(hn::Lanes(d8));
    const auto at = [&](int i) HWY_ATTR {
      hn::StoreU(hn::Xor(hn::LoadU(d8, from + i), flipped), d8, to + i);
    };
    int i = 0;
    for (; i + step <= count; i += step) at(i);
    if (i < count && count >= step) at(count - step);  // once more for some
    if (count >= step) return;
    for (; i < count; ++i) to[i] = static_cast<Element>(from[i] ^ kFlipped);
  }
  // Four words of weights.
  static HWY_INLINE hn::Vec<FourWords> four(const int8_t* w) {
    return hn::BitCast(FourWords(), hn::LoadU(hn::FixedTag<int8_t, 16>(), w));
  }
  template <class Load>
  static HWY_INLINE VecI join(const Load& load) {
    return join_bytes<4>(load);
  }
  // What is added to x, and its zero point, count once for each weight: less so many sums of
  // weights.
  static HWY_INLINE VecI start(const int32_t* weights, int words, int64_t stride, int zero) {
    const I32 d;
    const VecI ones = hn::Set(d, 0x01010101);
    VecI sum = hn::Zero(d);
    for (int word = 0; word < words; ++word) {
      sum = dot(sum, ones, hn::Load(d, weights + word * stride));
    }
    return hn::Mul(sum, hn::Set(d, -(kAdded + zero)));
  }
  template <int kCount, class Load>
  static HWY_INLINE VecI gather(const Load& load, int /*zero*/) {
    const auto flipped = static_cast<int32_t>(0x01010101U * static_cast<uint8_t>(kFlipped));
    return hn::Xor(join_bytes<kCount>(load), hn::Set(I32(), flipped));
  }
};
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
