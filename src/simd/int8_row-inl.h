// Products of one row of int8 and prepared weights, as in dense layers of one sample. What they
// take is reading the weights once: few instructions around the sums keep that going. Included once
// per vector target.

#if defined(THIMBLE_SIMD_INT8_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ROW_INL_H_
#undef THIMBLE_SIMD_INT8_ROW_INL_H_
#else
#define THIMBLE_SIMD_INT8_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "simd/int8-inl.h"
#include "simd/int8_quick-inl.h"
#include "simd/int8_scratch.h"
#include "simd/int8_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// The row, its weights and its results.
template <class Words>
class Row {
 public:
  using Element = typename Words::Element;

  // c numbers and k results. cells: for a copy of the row.
  HWY_INLINE Row(int8_t* y, const int8_t* x, const Int8Scratch& s, int c, int k,
                 const Int8Result& result, Element* cells)
      : y_(y),
        cells_(cells),
        s_(s),
        words_((c + Words::kUnit - 1) / Words::kUnit),
        channels_(k),
        vectors_((k + lanes() - 1) / lanes()),
        finish_(result, s) {
    Words::copy(cells, x, c, result.input_zero_point);
    const Element padding = Words::padding(result.input_zero_point);
    for (int i = c; i < words_ * Words::kUnit; ++i) cells[i] = padding;
  }

  HWY_INLINE void multiply() const {
    const int panels = (vectors_ + kMaxVectors - 1) / kMaxVectors;
    const int fewest = vectors_ / panels;
    const int further = vectors_ % panels;
    const int32_t* weights = s_.weights;
    // Panel i begins at i * vectors / panels, without a division for each.
    for (int vector = 0, rest = 0; vector < vectors_;) {
      rest += further;
      const int vectors = fewest + static_cast<int>(rest >= panels);
      if (rest >= panels) rest -= panels;
      if (vectors == 1) panel<1>(weights, vector);
      if (vectors == 2) panel<2>(weights, vector);
      if constexpr (kMaxVectors > 2) {
        if (vectors == 3) panel<3>(weights, vector);
        if (vectors == 4) panel<4>(weights, vector);
      }
      weights += int64_t{vectors} * words_ * lanes();
      vector += vectors;
    }
  }

 private:
  template <int kVectors>
  HWY_NOINLINE void panel(const int32_t* HWY_RESTRICT b, int vector) const {
    // Sums of every kChains-th word, so that four do not wait for each other.
    constexpr int kChains = kVectors == 1 ? 4 : kVectors == 2 ? 2 : 1;
    const I32 d;
    VecI sums[kChains][kVectors];
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[0][v] = hn::Load(d, s_.start + (vector + v) * lanes());
      THIMBLE_UNROLL
      for (int i = 1; i < kChains; ++i) sums[i][v] = hn::Zero(d);
    }
    const auto add = [&](const Element* word, VecI* to) HWY_ATTR {
      int32_t bytes;
      std::memcpy(&bytes, word, sizeof(bytes));
      const VecI one = hn::Set(d, bytes);
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        to[v] = Words::dot(to[v], one, hn::Load(d, b + v * lanes()));
      }
      b += kVectors * lanes();
    };
    const Element* from = cells_;
    int word = 0;
    for (; word + kChains <= words_; word += kChains, from += kChains * Words::kUnit) {
      THIMBLE_UNROLL
      for (int i = 0; i < kChains; ++i) add(from + i * Words::kUnit, sums[i]);
    }
    for (; word < words_; ++word, from += Words::kUnit) add(from, sums[0]);
    THIMBLE_UNROLL
    for (int i = 1; i < kChains; ++i) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) sums[0][v] = hn::Add(sums[0][v], sums[i][v]);
    }
    store<kVectors>(sums[0], vector);
  }

  // The first channel of a vector. The last vector lies over the one before, so that it is whole.
  [[nodiscard]] int channel(int vector) const {
    return std::min(vector * lanes(), std::max(channels_ - lanes(), 0));
  }

  template <int kVectors>
  HWY_INLINE void store(const VecI* sums, int vector) const {
    const int first = channel(vector);
    const int last = channel(vector + kVectors - 1) - first;
    int8_t* const to = y_ + first;
    const int count = std::min(channels_, lanes());
#if HWY_TARGET == HWY_AVX3
    if (count == lanes() && !finish_.goes_one_by_one()) {
      if constexpr (kVectors == 4) {
        if (finish_.is_quick() && finish_.is_fixed() && last == 3 * lanes()) {
          const QuickFinish<true> quick(finish_, s_);
          const auto factors = [&](int v)
                                   HWY_ATTR { return quick.factors((vector + v) * lanes()); };
          const __m512i bytes = quick.bytes(sums[0].raw, sums[1].raw, sums[2].raw, sums[3].raw,
                                            factors(0), factors(1), factors(2), factors(3));
          return _mm512_storeu_si512(to, bytes);
        }
      }
      return finish_.template store_vectors<kVectors>(sums, to, vector * lanes(), last);
    }
#endif
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const int k = v + 1 < kVectors ? v * lanes() : last;
      finish_.store(sums[v], to + k, (vector + v) * lanes(), first + k, count);
    }
  }

  int8_t* y_;
  Element* cells_;
  const Int8Scratch& s_;
  int words_;     // of the row
  int channels_;  // of y
  int vectors_;
  Finish finish_;
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
