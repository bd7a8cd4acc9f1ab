// Packed weights of int8 convolutions. A vector of words holds the weights of the same neighbouring
// taps for neighbouring channels. Neighbouring vectors that a register tile covers make a panel:
// [words][vectors][lanes]. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_INT8_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_INT8_WEIGHTS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "simd/int8_layout.h"
#include "simd/int8_scratch.h"
#include "simd/int8_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
// words[i]: word i of every row. lanes() rows of four words, `step` bytes apart.
template <class Words>
HWY_INLINE void transpose_words(const int8_t* rows, int64_t step, VecI* words) {
  const I32 d;
  const hn::Repartition<int64_t, I32> d64;
  VecI v[4];  // in block b of 16 bytes: row 4b + i
  THIMBLE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int8_t* const row = rows + i * step;
#if HWY_MAX_BYTES == 64
    const hn::Half<I32> half;
    v[i] =
        hn::Combine(d, hn::Combine(half, Words::four(row + 12 * step), Words::four(row + 8 * step)),
                    hn::Combine(half, Words::four(row + 4 * step), Words::four(row)));
#elif HWY_MAX_BYTES == 32
    v[i] = hn::Combine(d, Words::four(row + 4 * step), Words::four(row));
#else
    v[i] = Words::four(row);
#endif
  }
  const auto low = hn::BitCast(d64, hn::InterleaveLower(d, v[0], v[1]));
  const auto high = hn::BitCast(d64, hn::InterleaveUpper(d, v[0], v[1]));
  const auto low2 = hn::BitCast(d64, hn::InterleaveLower(d, v[2], v[3]));
  const auto high2 = hn::BitCast(d64, hn::InterleaveUpper(d, v[2], v[3]));
  words[0] = hn::BitCast(d, hn::InterleaveLower(d64, low, low2));
  words[1] = hn::BitCast(d, hn::InterleaveUpper(d64, low, low2));
  words[2] = hn::BitCast(d, hn::InterleaveLower(d64, high, high2));
  words[3] = hn::BitCast(d, hn::InterleaveUpper(d64, high, high2));
}
#endif

// The output channels of one group.
template <class Words>
class Channels {
 public:
  Channels(const conv_dims& d, const Int8Layout& layout, const Int8Patch& patch, int group)
      : layout_(layout),
        patch_(patch),
        columns_(d.s),
        group_(group),
        count_(d.k / d.groups),
        vectors_((count_ + lanes() - 1) / lanes()),
        panels_((vectors_ + kMaxVectors - 1) / kMaxVectors),
        words_(patch.runs * ((patch.length + Words::kUnit - 1) / Words::kUnit)) {}

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int vectors() const { return vectors_; }
  [[nodiscard]] int panels() const { return panels_; }
  [[nodiscard]] int words() const { return words_; }
  [[nodiscard]] int first() const { return group_ * count_; }
  // Panels are about equally wide.
  [[nodiscard]] int first_vector(int panel) const {
    return static_cast<int>(int64_t{panel} * vectors_ / panels_);
  }
  // The first channel of a vector. The last vector lies over the one before, so that it is whole.
  [[nodiscard]] int channel(int vector) const {
    return std::min(vector * lanes(), std::max(count_ - lanes(), 0));
  }
  [[nodiscard]] int in_vector() const { return std::min(count_, lanes()); }
  // Places of all vectors, which have a channel each.
  [[nodiscard]] int positions() const { return count_ < lanes() ? count_ : vectors_ * lanes(); }

  // Where a panel begins.
  [[nodiscard]] int64_t offset(int panel) const {
    return int64_t{first_vector(panel)} * words_ * lanes();
  }

  // Packs a panel and computes where its sums begin; zero: of x.
  void pack(const Int8Scratch& s, const int8_t* w, int panel, int zero) const {
    const int first = first_vector(panel);
    const int vectors = first_vector(panel + 1) - first;
    const int64_t step = int64_t{vectors} * lanes();
    for (int v = 0; v < vectors; ++v) {
      int32_t* const to = s.weights + offset(panel) + int64_t{v} * lanes();
      if (layout_.transposed) {
        pack_columns(to, step, w, channel(first + v));
      } else {
        pack_rows(to, step, w, channel(first + v));
      }
      hn::Store(Words::start(to, words_, step, zero), I32(), s.start + (first + v) * lanes());
    }
  }

 private:
  // The taps of a channel are neighbours.
  void pack_rows(int32_t* to, int64_t step, const int8_t* w, int channel) const {
    const int64_t taps = int64_t{patch_.runs} * patch_.length;
    const int8_t* from = w + (first() + channel) * taps;
    for (int run = 0; run < patch_.runs; ++run, from += patch_.length) {
#if HWY_TARGET == HWY_SCALAR
      for (int begin = 0; begin < patch_.length; begin += Words::kUnit, to += step) {
        int8_t unit[Words::kUnit] = {};
        std::memcpy(unit, from + begin,
                    static_cast<size_t>(std::min(Words::kUnit, patch_.length - begin)));
        *to = word_of<Words>(unit);
      }
#else
      constexpr int kBytes = 4 * Words::kUnit;
      for (int begin = 0; begin < patch_.length; begin += kBytes) {
        const int rest = std::min(kBytes, patch_.length - begin);
        const bool is_whole = count_ >= lanes() && rest == kBytes;
        alignas(16) int8_t padded[kInt8MostLanes][kBytes];
        for (int lane = 0; !is_whole && lane < lanes(); ++lane) {
          std::memset(padded[lane], 0, kBytes);
          if (lane >= count_) continue;
          std::memcpy(padded[lane], from + lane * taps + begin, static_cast<size_t>(rest));
        }
        VecI words[4];
        if (is_whole) {
          transpose_words<Words>(from + begin, taps, words);
        } else {
          transpose_words<Words>(padded[0], kBytes, words);
        }
        const int filled = (rest + Words::kUnit - 1) / Words::kUnit;
        for (int i = 0; i < filled; ++i, to += step) hn::Store(words[i], I32(), to);
      }
#endif
    }
  }

  // The channels of a tap are neighbours.
  void pack_columns(int32_t* to, int64_t step, const int8_t* w, int channel) const {
    const int64_t window = int64_t{layout_.window_h} * layout_.window_w * count_;
    w += int64_t{group_} * patch_.channels * window + channel;
    int row = 0;  // of the next tap
    int column = 0;
    int c = 0;
    for (int run = 0; run < patch_.runs; ++run) {
      for (int begin = 0; begin < patch_.length; begin += Words::kUnit, to += step) {
        const int8_t* taps[Words::kUnit] = {};
        const int filled = std::min(Words::kUnit, patch_.length - begin);
        for (int i = 0; i < filled; ++i) {
          const int64_t tap =
              int64_t{layout_.first_row + row * layout_.row_step} * layout_.window_w +
              layout_.first_column + column * layout_.column_step;
          taps[i] = w + c * window + tap * count_;
          if (++c < patch_.channels) continue;
          c = 0;
          if (++column < columns_) continue;
          column = 0;
          ++row;
        }
        const auto load = [&](int i) HWY_ATTR {
          if (taps[i] == nullptr) return hn::Zero(I8());
          if (count_ >= lanes()) return hn::LoadU(I8(), taps[i]);
          alignas(64) int8_t few[kInt8MostLanes] = {};
          std::memcpy(few, taps[i], static_cast<size_t>(count_));
          return hn::LoadU(I8(), few);
        };
        hn::Store(Words::join(load), I32(), to);
      }
    }
  }

  const Int8Layout& layout_;
  const Int8Patch& patch_;
  int columns_;  // of the window
  int group_;
  int count_;
  int vectors_;
  int panels_;
  int words_;  // of a channel
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
