// Words of two neighbouring errors of 16 bits, and how sums become int8 errors. Included once per
// vector target.

#if defined(THIMBLE_SIMD_INT8_ERRORS_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ERRORS_WORDS_INL_H_
#undef THIMBLE_SIMD_INT8_ERRORS_WORDS_INL_H_
#else
#define THIMBLE_SIMD_INT8_ERRORS_WORDS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simd/int8_errors.h"
#include "simd/int8_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_INT8_VNNI
// The caller has asked the processor for the instruction.
struct QuickPairs : Pairs {
  static HWY_INLINE VecI dot(VecI sum, VecI a, VecI b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
};
#endif

// Loads or stores the first n lanes, at least 1, touching nothing beyond them; 0 in other lanes.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const hn::TFromD<D>* from, int n) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> all[HWY_LANES(hn::TFromD<D>)] = {};
  for (int i = 0; i < n; ++i) all[i] = from[i];
  return hn::Load(d, all);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(n)), d, from);
#endif
}
template <class D>
HWY_INLINE void store_some(hn::Vec<D> v, D d, hn::TFromD<D>* to, int n) {
  if (n >= static_cast<int>(hn::Lanes(d))) return hn::StoreU(v, d, to);
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN hn::TFromD<D> all[HWY_LANES(hn::TFromD<D>)];
  hn::Store(v, d, all);
  for (int i = 0; i < n; ++i) to[i] = all[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, static_cast<size_t>(n)), d, to);
#endif
}

// Numbers of 8 bits as lanes of 32, likewise.
HWY_INLINE VecI load_numbers(const int8_t* from, int n) {
  const I32 d;
  const I8 d8;
  if (n >= lanes()) return hn::PromoteTo(d, hn::LoadU(d8, from));
  return hn::PromoteTo(d, load_some(d8, from, n));
}

// Errors from `at` on, likewise, where `total` is the number of all. Nothing beyond their bits is
// read.
HWY_INLINE VecI load_errors(const Int8Error& error, int64_t at, int n, int64_t total) {
  const I32 d;
  const VecI numbers = load_numbers(error.e + at, n);
  if (error.bits == nullptr) return numbers;
  const int64_t first = at / 8;
  const int64_t left = (total + 7) / 8 - first;
  uint64_t word = 0;
  if (left >= 8) {
    std::memcpy(&word, error.bits + first, 8);
  } else {
    for (int64_t i = 0; i < left; ++i) word |= uint64_t{error.bits[first + i]} << (8 * i);
  }
  word >>= at % 8;
  uint8_t bytes[8];
  std::memcpy(bytes, &word, sizeof(bytes));
  return hn::IfThenElseZero(hn::LoadMaskBits(d, bytes), numbers);
}

// Word i of numbers that lie side by side, in every lane.
HWY_INLINE VecI pair_of(const int16_t* from, int i) {
  int32_t word = 0;
  std::memcpy(&word, from + int64_t{2} * i, sizeof(word));
  return hn::Set(I32(), word);
}

HWY_INLINE VecI joined_words(VecI low, VecI high) {
  return hn::Or(hn::And(low, hn::Set(I32(), 0xFFFF)), hn::ShiftLeft<16>(high));
}

// Where sums go: first their largest size is found, then they are stored.
struct ErrorResult {
  int8_t* dx;  // null: the largest size
  const int8_t* waiting;
  float waiting_unit;
  float scale;  // of dx
};

// The largest sizes of numbers, as bits without sign: those of NaN are the largest.
class LargestSizes {
 public:
  HWY_INLINE LargestSizes() : most_(hn::Zero(I32())) {}
  HWY_INLINE void add(Vec v, int n) {
    const I32 d;
    const VecI bits = hn::And(hn::BitCast(d, v), hn::Set(d, 0x7FFFFFFF));
    most_ = hn::Max(most_, hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(n)), bits));
  }
  [[nodiscard]] HWY_INLINE int32_t bits() const {
    return hn::GetLane(hn::MaxOfLanes(I32(), most_));
  }

 private:
  VecI most_;
};

// Takes n gradients, of the elements from `at` on.
HWY_INLINE void take_gradients(const ErrorResult& to, Vec v, int64_t at, int n,
                               LargestSizes& most) {
  const F32 f;
  const I8 d8;
  if (to.waiting != nullptr) {
    const Vec waits = hn::ConvertTo(f, load_numbers(to.waiting + at, n));
    v = hn::Add(hn::Mul(waits, hn::Set(f, to.waiting_unit)), v);
  }
  if (to.dx == nullptr) return most.add(v, n);
  // Halves to even; a size that is no number becomes 0.
  v = hn::Div(v, hn::Set(f, to.scale));
  v = hn::IfThenElseZero(hn::Eq(v, v), v);
  const auto bytes = hn::DemoteTo(d8, hn::NearestInt(v));
  store_some(bytes, d8, to.dx + at, n);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
