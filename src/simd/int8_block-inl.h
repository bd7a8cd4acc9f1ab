// The pixels that a task of an int8 convolution takes, and the register tiles over them. Included
// once per vector target.

#if defined(THIMBLE_SIMD_INT8_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_BLOCK_INL_H_
#undef THIMBLE_SIMD_INT8_BLOCK_INL_H_
#else
#define THIMBLE_SIMD_INT8_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "simd/int8-inl.h"
#include "simd/int8_layout.h"
#include "simd/int8_quick-inl.h"
#include "simd/int8_scratch.h"
#include "simd/int8_weights-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// A convolution that is not depthwise.
struct Convolution {
  const int8_t* x;
  const conv_dims& d;
  const Int8Layout& layout;
  const Int8Patch& patch;
  int zero;       // of x
  bool is_dense;  // pixels of y follow one another
};

template <int kValue>
using Number = std::integral_constant<int, kValue>;

// The pixels of a task, of one group.
template <class Words>
class Block {
 public:
  using Element = typename Words::Element;
  static_assert(kInt8Pixels % 8 == 0 && kInt8Pixels % 6 == 0);
  static_assert(kInt8MostPixels % kInt8Pixels == 0);

  // number: of the block; y: of the group's first channel; cells: memory of a patch.
  Block(const Convolution& c, const Int8Blocks& blocks, int64_t number, int group, int8_t* y,
        Element* cells)
      : Block(c, cells) {
    const conv_dims& d = c.d;
    const int64_t line = number / blocks.in_line();
    const int64_t start = number % blocks.in_line() * blocks.pixels;
    count_ = static_cast<int>(std::min<int64_t>(blocks.pixels, blocks.line - start));
    in_eights_ = d.q % 8 == 0 && start % 8 == 0;
    const bool is_row = blocks.line == d.q;
    const int64_t image = is_row ? line / d.p : line;
    const int row = is_row ? static_cast<int>(line % d.p) : static_cast<int>(start / d.q);
    const int column = static_cast<int>(start % d.q);
    const int64_t rows = (column + count_ - 1) / d.q + 1;
    // Several rows are copied as a whole.
    const int copied = rows == 1 ? column : 0;
    const int windows = rows == 1 ? count_ : d.q;
    copy(image, row, static_cast<int>(rows), copied, windows, group);
    const int64_t down = c.patch.rows.step * c.patch.pitch();
    const int64_t right = int64_t{c.patch.columns.step} * c.patch.channels;
    const Element* from = cells + (column - copied) * right;
    int8_t* to = y + image * c.layout.image + row * c.layout.row + column * c.layout.column;
    for (int m = 0, q = column; m < count_; q = 0) {
      const int in_row = std::min(d.q - q, count_ - m);
      address(from_ + m, from, right, in_row);
      address(to_ + m, to, c.layout.column, in_row);
      m += in_row;
      from += down - q * right;
      to += c.layout.row - q * c.layout.column;
    }
    // Register tiles read the last one again.
    constexpr int kMostRows = 8;
    const auto rounded =
        std::min(static_cast<int>(round_up(count_, kInt8Pixels)), count_ + kMostRows);
    for (int m = count_; m < rounded; ++m) {
      from_[m] = from_[count_ - 1];
      to_[m] = to_[count_ - 1];
    }
  }

  // The results of kVectors vectors of channels from number `vector` on.
  template <int kVectors>
  void multiply(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                const int32_t* weights, const Finish& finish) const {
    int done = 0;
#if HWY_TARGET == HWY_AVX3
    if (finish.is_quick() && channels.in_vector() == lanes()) {
      done = finish.is_fixed() ? quick_tiles<kVectors, true>(channels, s, vector, weights, finish)
                               : quick_tiles<kVectors, false>(channels, s, vector, weights, finish);
    }
#endif
    if (done < count_) tiles<kVectors>(channels, s, vector, weights, done, finish);
  }

 private:
  // The pixels from number m on.
  template <int kVectors>
  HWY_NOINLINE void tiles(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                          const int32_t* weights, int m, const Finish& shared) const {
    constexpr int kRows = tile_rows(kVectors);
    const Finish finish = shared;
    if (count_ == 1) return tile<kVectors, 1>(channels, s, vector, weights, 0, finish);
    while (m < count_) {
      if (count_ - m > kRows / 2) {
        tile<kVectors, kRows>(channels, s, vector, weights, m, finish);
        m += kRows;
      } else {
        tile<kVectors, kRows / 2>(channels, s, vector, weights, m, finish);
        m += kRows / 2;
      }
    }
  }

  Block(const Convolution& c, Element* cells)
      : c_(c),
        cells_(cells),
        taps_(c.patch.rows.taps),
        across_(c.patch.runs / std::max(c.d.r, 1)),
        down_(c.patch.rows.tap * c.patch.pitch()),
        right_(ptrdiff_t{c.patch.columns.tap} * c.patch.channels),
        length_(c.patch.length) {}

  // Writes the addresses of `count` elements, `step` apart, and maybe up to kSpare behind them.
  template <class T>
  static HWY_INLINE void address(T** addresses, T* first, ptrdiff_t step, int count) {
#if HWY_TARGET == HWY_AVX3
    const __m512i eight = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const auto bytes = step * static_cast<ptrdiff_t>(sizeof(T));
    __m512i next = _mm512_add_epi64(_mm512_set1_epi64(reinterpret_cast<intptr_t>(first)),
                                    _mm512_mullo_epi64(eight, _mm512_set1_epi64(bytes)));
    const __m512i further = _mm512_set1_epi64(8 * bytes);
    for (int i = 0; i < count; i += 8) {
      _mm512_storeu_si512(addresses + i, next);
      next = _mm512_add_epi64(next, further);
    }
#else
    for (int i = 0; i < count; ++i) addresses[i] = first + i * step;
#endif
  }

  // Without a call for few, as at the borders of an image.
  HWY_INLINE void fill(Element* to, int64_t count) const {
    const hn::CappedTag<Element, 16> some;
    const hn::CappedTag<Element, 8> few;
    const Element padding = Words::padding(c_.zero);
    int64_t i = 0;
    const auto fill_by = [&](auto d) HWY_ATTR {
      const auto step = static_cast<int64_t>(hn::Lanes(d));
      for (; i + step <= count; i += step) hn::StoreU(hn::Set(d, padding), d, to + i);
    };
    fill_by(some);
    fill_by(few);
    if (count - i >= 4) to[i] = to[i + 1] = to[i + 2] = to[i + 3] = padding, i += 4;
    if (count - i >= 2) to[i] = to[i + 1] = padding, i += 2;
    if (count > i) to[i] = padding;
  }

  // Copies what `rows` x `windows` neighbouring windows read.
  void copy(int64_t image, int row, int rows, int column, int windows, int group) const {
    const conv_dims& d = c_.d;
    const int channels = c_.patch.channels;
    const Int8Axis& across = c_.patch.columns;
    const int64_t top = int64_t{row} * d.stride_h - d.pad_top;
    const int64_t left = int64_t{column} * d.stride_w - d.pad_left;
    const int used_rows = c_.patch.rows.used(rows);
    const int used = across.used(windows);
    Element* to = cells_;
    for (int i = 0; i < used_rows; ++i, to += c_.patch.pitch()) {
      const int64_t h = top + c_.patch.rows.pixel(i);
      if (h < 0 || h >= d.h) {
        fill(to, int64_t{used} * channels);
        continue;
      }
      const int8_t* const line = c_.x + (image * d.h + h) * d.w * d.c + group * channels;
      if (d.groups == 1 && !across.for_each_window) {
        const int64_t begin = std::clamp<int64_t>(-left, 0, used);
        const int64_t end = std::clamp<int64_t>(d.w - left, begin, used);
        fill(to, begin * channels);
        Words::copy(to + begin * channels, line + (left + begin) * channels,
                    static_cast<int>((end - begin) * channels), c_.zero);
        fill(to + end * channels, (used - end) * channels);
        continue;
      }
      const int taps = across.for_each_window ? across.taps : 1;
      const int step = across.for_each_window ? across.stride : 1;
      Element* pixel = to;
      for (int64_t j = 0, first = left; j < used; j += taps, first += step) {
        for (int64_t tap = 0, w = first; tap < taps; ++tap, w += across.dilation) {
          if (w < 0 || w >= d.w) {
            fill(pixel, channels);
          } else {
            Words::copy(pixel, line + w * d.c, channels, c_.zero);
          }
          pixel += channels;
        }
      }
    }
    // The last word may read behind the last pixel, with weights of 0.
    if (used_rows > 0) {
      fill(to - c_.patch.pitch() + int64_t{used} * channels, Words::kUnit);
    }
  }

  // The sums of the pixels [m, m + kRows). More than eight must be in eights (in_eights_).
  template <int kVectors, int kRows>
  HWY_INLINE void accumulate(const Int8Scratch& s, int vector, const int32_t* HWY_RESTRICT b, int m,
                             VecI (*sums)[kVectors]) const {
    const I32 d;
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      const VecI start = hn::Load(d, s.start + (vector + v) * lanes());
      THIMBLE_UNROLL
      for (int i = 0; i < kRows; ++i) sums[i][v] = start;
    }
    constexpr int kAddresses = std::min(kRows, 8);
    const Element* rows[kAddresses];
    THIMBLE_UNROLL
    for (int i = 0; i < kAddresses; ++i) rows[i] = from_[m + i];
    const ptrdiff_t further = kRows > 8 ? from_[m + 8] - from_[m] : 0;
    ptrdiff_t row = 0;
    ptrdiff_t run = 0;
    for (int left = taps_ * across_, in_row = across_; left > 0; --left) {
      const ptrdiff_t end = run + length_;
      for (ptrdiff_t at = run; at < end; at += Words::kUnit, b += kVectors * lanes()) {
        VecI weights[kVectors];
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) weights[v] = hn::Load(d, b + v * lanes());
        THIMBLE_UNROLL
        for (int i = 0; i < kRows; ++i) {
          int32_t word;
          const ptrdiff_t place = i < 8 ? at : at + further;
          std::memcpy(&word, rows[i % kAddresses] + place, sizeof(word));
          const VecI one = hn::Set(d, word);
          THIMBLE_UNROLL
          for (int v = 0; v < kVectors; ++v) sums[i][v] = Words::dot(sums[i][v], one, weights[v]);
        }
      }
      run += right_;
      if (--in_row == 0) {
        in_row = across_;
        row += down_;
        run = row;
      }
    }
  }

#if HWY_TARGET == HWY_AVX3
  // The pixels of all whole tiles, where results are quick (Finish::is_quick) and vectors are
  // whole. Returns how many.
  template <int kVectors, bool kFixed>
  HWY_NOINLINE int quick_tiles(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                               const int32_t* weights, const Finish& finish) const {
    constexpr int kRows = tile_rows(kVectors);
    const QuickFinish<kFixed> quick(finish, s);
    typename QuickFinish<kFixed>::Factors factors[kVectors];
    int8_t* const* to = to_;
    int64_t place[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      factors[v] = quick.factors((vector + v) * lanes());
      place[v] = channels.channel(vector + v);
    }
    const bool in_a_row = place[kVectors - 1] == place[0] + (kVectors - 1) * kInt8MostLanes;
    // Whether four vectors lie side by side.
    const bool all = in_a_row && (kVectors == 4 || (4 % kVectors == 0 && c_.is_dense &&
                                                    channels.count() == kVectors * lanes()));
    const auto tile = [&](auto rows, int m) HWY_ATTR {
      constexpr int kTileRows = decltype(rows)::value;
      constexpr int kGroups = kTileRows * kVectors / 4;
      static_assert(kTileRows * kVectors % 4 == 0 && kGroups % 2 == 0 && kGroups <= 6);
      VecI sums[kTileRows][kVectors];
      accumulate<kVectors, kTileRows>(s, vector, weights, m, sums);
      // Of four vectors; group: their number.
      const auto store_four = [&](auto group) HWY_ATTR {
        constexpr int kFirst = 4 * decltype(group)::value;
        const auto sum = [&](auto i) HWY_ATTR {
          constexpr int kAt = kFirst + decltype(i)::value;
          return sums[kAt / kVectors][kAt % kVectors].raw;
        };
        const auto at = [&](int i) HWY_ATTR {
          return to[m + (kFirst + i) / kVectors] + place[(kFirst + i) % kVectors];
        };
        const __m512i bytes =
            quick.bytes(sum(Number<0>()), sum(Number<1>()), sum(Number<2>()), sum(Number<3>()),
                        factors[kFirst % kVectors], factors[(kFirst + 1) % kVectors],
                        factors[(kFirst + 2) % kVectors], factors[(kFirst + 3) % kVectors]);
        if (all) return _mm512_storeu_si512(at(0), bytes);
        const auto store = [](__m128i v, int8_t* y)
                               HWY_ATTR { _mm_storeu_si128(reinterpret_cast<__m128i*>(y), v); };
        store(_mm512_castsi512_si128(bytes), at(0));
        store(_mm512_extracti32x4_epi32(bytes, 1), at(1));
        store(_mm512_extracti32x4_epi32(bytes, 2), at(2));
        store(_mm512_extracti32x4_epi32(bytes, 3), at(3));
      };
      store_four(Number<0>());
      store_four(Number<1>());
      if constexpr (kGroups > 2) store_four(Number<2>()), store_four(Number<3>());
      if constexpr (kGroups > 4) store_four(Number<4>()), store_four(Number<5>());
    };
    int m = 0;
    if constexpr (kVectors == 1) {
      for (; in_eights_ && m + 16 <= count_; m += 16) tile(Number<16>(), m);
    }
    // A last tile of more than half its rows takes some of the one before again.
    for (; count_ - m > kRows / 2 && count_ >= kRows; m += kRows) {
      m = std::min(m, count_ - kRows);
      tile(Number<kRows>(), m);
    }
    return m;
  }
#endif

  // The pixels [m, m + kRows).
  template <int kVectors, int kRows>
  HWY_INLINE void tile(const Channels<Words>& channels, const Int8Scratch& s, int vector,
                       const int32_t* HWY_RESTRICT b, int m, const Finish& finish) const {
    VecI sums[kRows][kVectors];
    accumulate<kVectors, kRows>(s, vector, b, m, sums);
    const int last = channels.channel(vector + kVectors - 1) - channels.channel(vector);
#if HWY_TARGET == HWY_AVX3
    if constexpr (kVectors == 1 && kRows % 4 == 0) {
      if (m + kRows <= count_ && !finish.goes_one_by_one()) {
        THIMBLE_UNROLL
        for (int i = 0; i < kRows; i += 4) {
          const VecI four[4] = {sums[i][0], sums[i + 1][0], sums[i + 2][0], sums[i + 3][0]};
          finish.store_pixels(four, to_ + m + i, channels.channel(vector), vector * lanes(),
                              channels.in_vector());
        }
        return;
      }
    }
#endif
    THIMBLE_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (m + i >= count_) break;
      int8_t* const to = to_[m + i] + channels.channel(vector);
#if HWY_TARGET == HWY_AVX3
      if (channels.in_vector() == lanes() && !finish.goes_one_by_one()) {
        finish.template store_vectors<kVectors>(sums[i], to, vector * lanes(), last);
        continue;
      }
#endif
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const int k = v + 1 < kVectors ? v * lanes() : last;
        finish.store(sums[i][v], to + k, (vector + v) * lanes(),
                     channels.first() + channels.channel(vector) + k, channels.in_vector());
      }
    }
  }

  static constexpr int kSpare = 7;

  const Convolution& c_;
  Element* cells_;
  int count_;
  bool in_eights_;          // each eight pixels are neighbours in a row
  int taps_;                // rows of a window
  int across_;              // runs of a row of the window
  ptrdiff_t down_, right_;  // between rows of a window, and between runs of a row
  ptrdiff_t length_;        // of a run
  const Element* from_[kInt8MostPixels + kSpare];  // the cells of each window
  int8_t* to_[kInt8MostPixels + kSpare];           // its results
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
