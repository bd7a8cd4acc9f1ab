// Conversions between f32 and the 16-bit types bf16 and f16, to the nearest, ties to even: the bits
// of ir/element.h, on every target. Included once per vector target.

#if defined(THIMBLE_SIMD_CONVERT_16BIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_CONVERT_16BIT_INL_H_
#undef THIMBLE_SIMD_CONVERT_16BIT_INL_H_
#else
#define THIMBLE_SIMD_CONVERT_16BIT_INL_H_
#endif

#include <cstring>

#include "simd/tile-inl.h"

// Whether Highway converts f16 by instructions, which round to the nearest even and keep NaN.
// Elsewhere it emulates them with another rounding.
#undef THIMBLE_F16_INSTRUCTIONS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define THIMBLE_F16_INSTRUCTIONS 1
#elif HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON
#define THIMBLE_F16_INSTRUCTIONS 1
#else
#define THIMBLE_F16_INSTRUCTIONS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using U16 = hn::Rebind<uint16_t, F32>;
using Bits16 = hn::Vec<U16>;

struct BrainFloat {
  static HWY_INLINE Vec to_f32(Bits16 bits) {
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), bits)));
  }

  // The result in the upper bits.
  static HWY_INLINE hn::Vec<U32> rounded(Vec v) {
    const U32 d;
    const auto bits = hn::BitCast(d, v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
    const auto nearest = hn::Add(hn::Add(bits, hn::Set(d, 0x7fff)), odd);
    const auto nan = hn::Or(bits, hn::Set(d, 0x400000));
    return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(v)), nan, nearest);
  }

  static HWY_INLINE Bits16 from_f32(Vec v) {
    return hn::DemoteTo(U16(), hn::BitCast(I32(), hn::ShiftRight<16>(rounded(v))));
  }

  // Two vectors from x on, as one: faster than one after the other.
  static HWY_INLINE void narrow_two(uint16_t* y, const float* x) {
#if HWY_TARGET == HWY_SCALAR
    for (int i = 0; i < 2; ++i) hn::StoreU(from_f32(hn::LoadU(F32(), x + i)), U16(), y + i);
#else
    const hn::Repartition<uint16_t, F32> d;
    const auto low = hn::BitCast(d, rounded(hn::LoadU(F32(), x)));
    const auto high = hn::BitCast(d, rounded(hn::LoadU(F32(), x + lanes())));
    hn::StoreU(hn::ConcatOdd(d, high, low), d, y);
#endif
  }
};

struct HalfFloat {
#if THIMBLE_F16_INSTRUCTIONS
  using F16 = hn::Rebind<hwy::float16_t, F32>;

  static HWY_INLINE Vec to_f32(Bits16 bits) {
    return hn::PromoteTo(F32(), hn::BitCast(F16(), bits));
  }

  static HWY_INLINE Bits16 from_f32(Vec v) { return hn::BitCast(U16(), hn::DemoteTo(F16(), v)); }
#else
  using Bits = hn::Vec<I32>;
  static HWY_INLINE Bits of_all(int32_t value) { return hn::Set(I32(), value); }
  static HWY_INLINE Bits bits_of(Vec v) { return hn::BitCast(I32(), v); }
  static HWY_INLINE Vec float_of(Bits bits) { return hn::BitCast(F32(), bits); }

  static HWY_INLINE Vec to_f32(Bits16 bits) {
    const Bits half = hn::PromoteTo(I32(), bits);
    const Bits sign = hn::ShiftLeft<16>(hn::And(half, of_all(0x8000)));
    const Bits rest = hn::ShiftLeft<13>(hn::And(half, of_all(0x7fff)));
    const Bits smallest = of_all(0x38800000);
    const Bits largest = of_all(0x0f800000);  // the exponent of infinity, shifted
    const Bits denormal = bits_of(hn::Sub(float_of(hn::Add(rest, smallest)), float_of(smallest)));
    const Bits quiet = hn::IfThenElse(hn::Gt(rest, largest), of_all(0x400000), of_all(0));
    const Bits beyond = hn::Or(hn::Add(rest, of_all(0x70000000)), quiet);
    const Bits normal = hn::Add(rest, of_all(0x38000000));
    const Bits small = hn::IfThenElse(hn::Lt(rest, of_all(0x00800000)), denormal, normal);
    return float_of(hn::Or(sign, hn::IfThenElse(hn::Lt(rest, largest), small, beyond)));
  }

  static HWY_INLINE Bits16 from_f32(Vec v) {
    const Bits bits = bits_of(v);
    const Bits sign = hn::And(hn::ShiftRight<16>(bits), of_all(0x8000));
    const Bits rest = hn::And(bits, of_all(0x7fffffff));
    const Bits odd = hn::And(hn::ShiftRight<13>(rest), of_all(1));
    const Bits normal =
        hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(rest, of_all(0xfff)), odd), of_all(0x38000000)));
    const Bits denormal =
        hn::Sub(bits_of(hn::Add(float_of(rest), hn::Set(F32(), 0.5F))), of_all(0x3f000000));
    const Bits finite = hn::IfThenElse(hn::Lt(rest, of_all(0x38800000)), denormal, normal);
    const Bits bounded = hn::IfThenElse(hn::Gt(rest, of_all(0x477fffff)), of_all(0x7c00), finite);
    const Bits nan = hn::Or(hn::And(hn::ShiftRight<13>(rest), of_all(0x3ff)), of_all(0x7e00));
    const Bits either = hn::IfThenElse(hn::RebindMask(I32(), hn::IsNaN(v)), nan, bounded);
    return hn::DemoteTo(U16(), hn::Or(sign, either));
  }
#endif

  static HWY_INLINE void narrow_two(uint16_t* y, const float* x) {
    for (int i = 0; i < 2 * lanes(); i += lanes()) {
      hn::StoreU(from_f32(hn::LoadU(F32(), x + i)), U16(), y + i);
    }
  }
};

// Where values of a 16-bit type are read or written as vectors of f32.
template <class Type>
struct ConstNarrow {
  const uint16_t* at;
  HWY_INLINE ConstNarrow operator+(ptrdiff_t n) const { return {at + n}; }
};
template <class Type>
struct Narrow {
  uint16_t* at;
  HWY_INLINE Narrow operator+(ptrdiff_t n) const { return {at + n}; }
};

// All lanes, or the first `count` and zeros, touching nothing beyond them.
HWY_INLINE Vec load_whole(const float* from) { return hn::LoadU(F32(), from); }
HWY_INLINE void store_whole(Vec v, float* to) { hn::StoreU(v, F32(), to); }
template <class Type>
HWY_INLINE Vec load_whole(ConstNarrow<Type> from) {
  return Type::to_f32(hn::LoadU(U16(), from.at));
}
template <class Type>
HWY_INLINE void store_whole(Vec v, Narrow<Type> to) {
  hn::StoreU(Type::from_f32(v), U16(), to.at);
}
template <class Type>
HWY_INLINE Vec load_first(ConstNarrow<Type> from, int count) {
  alignas(64) uint16_t all[HWY_LANES(float)] = {};
  std::memcpy(all, from.at, static_cast<size_t>(count) * sizeof(uint16_t));
  return Type::to_f32(hn::Load(U16(), all));
}
template <class Type>
HWY_INLINE void store_first(Vec v, Narrow<Type> to, int count) {
  alignas(64) uint16_t all[HWY_LANES(float)];
  hn::Store(Type::from_f32(v), U16(), all);
  std::memcpy(to.at, all, static_cast<size_t>(count) * sizeof(uint16_t));
}

// y: [n] = x: [n], exactly.
template <class Type>
HWY_INLINE void widen_values(float* HWY_RESTRICT y, const uint16_t* HWY_RESTRICT x, int64_t n) {
  const ConstNarrow<Type> from{x};
  int64_t i = 0;
  for (; i + lanes() <= n; i += lanes()) store_whole(load_whole(from + i), y + i);
  const auto rest = static_cast<int>(n - i);
  if (rest > 0) store_first(load_first(from + i, rest), y + i, rest);
}

// y: [n] = x: [n], rounded.
template <class Type>
HWY_INLINE void narrow_values(uint16_t* HWY_RESTRICT y, const float* HWY_RESTRICT x, int64_t n) {
  const Narrow<Type> to{y};
  int64_t i = 0;
  for (; i + 2 * lanes() <= n; i += 2 * lanes()) Type::narrow_two(y + i, x + i);
  for (; i + lanes() <= n; i += lanes()) store_whole(load_whole(x + i), to + i);
  const auto rest = static_cast<int>(n - i);
  if (rest > 0) store_first(load_first(x + i, rest), to + i, rest);
}

// The same on a type that is known when running. brain: bf16, else f16.
inline void widen_16bit(float* y, const uint16_t* x, int64_t n, bool brain) {
  brain ? widen_values<BrainFloat>(y, x, n) : widen_values<HalfFloat>(y, x, n);
}
inline void narrow_16bit(uint16_t* y, const float* x, int64_t n, bool brain) {
  brain ? narrow_values<BrainFloat>(y, x, n) : narrow_values<HalfFloat>(y, x, n);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
