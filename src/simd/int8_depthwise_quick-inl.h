// Depthwise convolutions of int8 images with windows of three columns, where results are quick
// (Finish::is_quick). For AVX-512 with VNNI; included once per vector target.

#if defined(THIMBLE_SIMD_INT8_DEPTHWISE_QUICK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_DEPTHWISE_QUICK_INL_H_
#undef THIMBLE_SIMD_INT8_DEPTHWISE_QUICK_INL_H_
#else
#define THIMBLE_SIMD_INT8_DEPTHWISE_QUICK_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "simd/int8-inl.h"
#include "simd/int8_layout.h"
#include "simd/int8_scratch.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_INT8_VNNI
// A run of channels of a row of y, or of two that share words, and the rows of the image under it.
struct QuickRows {
  int8_t* y;               // of the first pixel
  int rows;                // of y
  int pixels;              // of each
  int column;              // under the first one
  const int8_t* lines[4];  // of column 0; of rows outside the image: as many blanks
  int64_t steps[4];        // between columns
  const int8_t* blank;     // 64 zero points
  int channel;             // the first one: of y, and its position in the packed arrays
  int channels;            // 64 or 32, or up to 16
};

// kChannels: 64, 32, 16, or 0 for fewer. kRows: of y that share words. kStep: columns between
// windows. The words of a column are made in registers, where they stay until the windows have
// passed them.
template <int kChannels, int kRows, int kStep, bool kFixed>
class QuickDepthwise {
 public:
  static constexpr int kTaps = 3;  // columns of the window
  static constexpr int kVectors = kChannels > 16 ? kChannels / 16 : 1;
  // Whose results fill a vector.
  static constexpr int kPixels = kVectors == 4 ? 1 : 4 / (kRows * kVectors);

  // words: packed weights of a row of y, stride: of a column.
  QuickDepthwise(const conv_dims& d, const Int8Scratch& s, int64_t words, int64_t stride,
                 const Finish& finish, const QuickRows& rows)
      : finish_(finish),
        rows_(rows),
        width_(static_cast<unsigned>(d.w)),
        some_(static_cast<__mmask16>((1U << std::min(rows.channels, kInt8MostLanes)) - 1)),
        is_bounded_(finish.is_bounded()),
        bounds_(finish.out()) {
    const int k = rows.channel;
    load(start_, s.start + k);
    load(scale_, s.scale + k);
    load(nudge_, s.nudge + k);
    from_ = s.weights + k;
    start_from_ = s.start + k;
    words_ = words;
    stride_ = stride;
    THIMBLE_UNROLL
    for (int row = 0; kVectors < 4 && row < kRows; ++row) {
      THIMBLE_UNROLL
      for (int tap = 0; tap < kTaps; ++tap) {
        load(weights_[row][tap], s.weights + row * words + tap * stride + k);
      }
    }
  }

  // All pixels. down, right: between rows and pixels of y.
  HWY_INLINE void run(int64_t down, int64_t right) const {
    if constexpr (kVectors == 4) return run_wide(down, right);
    const int rows = rows_.rows;
    const int pixels = rows_.pixels;
    int column = rows_.column;
    const int8_t* lines[4];
    int64_t steps[4];
    begin(lines, steps, column);
    __m512i window[kTaps][kVectors];
    THIMBLE_UNROLL
    for (int tap = kStep; tap < kTaps; ++tap) next_word(window[tap], lines, steps, column);
    // Results are stored while the next sums are added: neither waits for the other.
    __m512i sums[4] = {};
    int8_t* y = rows_.y;
    int8_t* before = nullptr;  // where the results of these sums lie
    for (int done = 0; done < pixels; done += kPixels, y += kPixels * right) {
      __m512i next[4];
      THIMBLE_UNROLL
      for (int i = 0; i < kPixels; ++i) {
        move<kStep>(window, lines, steps, column);
        THIMBLE_UNROLL
        for (int row = 0; row < kRows; ++row) {
          add_row(next + (i * kRows + row) * kVectors, window, row);
        }
      }
      if (before != nullptr) store(bytes(sums), before, down, right, kPixels, rows);
      THIMBLE_UNROLL
      for (int i = 0; i < 4; ++i) sums[i] = next[i];
      before = y;
    }
    store(bytes(sums), before, down, right, pixels - (pixels - 1) / kPixels * kPixels, rows);
  }

 private:
  // Of 64 channels, two pixels at a time, which share the weights that are read.
  HWY_INLINE void run_wide(int64_t down, int64_t right) const {
    constexpr int kAtOnce = 2;
    constexpr int kColumns = (kAtOnce - 1) * kStep + kTaps;
    const int rows = rows_.rows;
    int column = rows_.column;
    const int8_t* lines[4];
    int64_t steps[4];
    begin(lines, steps, column);
    __m512i window[kColumns][kVectors];
    THIMBLE_UNROLL
    for (int i = kAtOnce * kStep; i < kColumns; ++i) next_word(window[i], lines, steps, column);
    int8_t* y = rows_.y;
    for (int left = rows_.pixels; left > 0; left -= kAtOnce, y += kAtOnce * right) {
      move<kAtOnce * kStep>(window, lines, steps, column);
      THIMBLE_UNROLL
      for (int row = 0; row < kRows; ++row) {
        if (row >= rows) break;
        __m512i sums[kAtOnce][kVectors];
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const __m512i start = _mm512_loadu_si512(start_from_ + v * kInt8MostLanes);
          THIMBLE_UNROLL
          for (int i = 0; i < kAtOnce; ++i) sums[i][v] = start;
          THIMBLE_UNROLL
          for (int tap = 0; tap < kTaps; ++tap) {
            const VecI weights{
                _mm512_loadu_si512(from_ + row * words_ + tap * stride_ + v * kInt8MostLanes)};
            THIMBLE_UNROLL
            for (int i = 0; i < kAtOnce; ++i) {
              sums[i][v] =
                  Quads::dot(VecI{sums[i][v]}, VecI{window[i * kStep + tap][v]}, weights).raw;
            }
          }
        }
        _mm512_storeu_si512(y + row * down, bytes(sums[0]));
        if (left > 1) _mm512_storeu_si512(y + row * down + right, bytes(sums[1]));
      }
    }
  }

  // Of 32 channels, a vector has the first half of each 16, the other one the second halves, as
  // next_word() makes them.
  static HWY_INLINE void swap_halves(__m512i& a, __m512i& b) {
    const __m512i first = _mm512_shuffle_i64x2(a, b, 0x44);
    b = _mm512_shuffle_i64x2(a, b, 0xEE);
    a = first;
  }
  template <class T>
  static HWY_INLINE void load(__m512i* v, const T* from) {
    THIMBLE_UNROLL
    for (int i = 0; i < kVectors; ++i) v[i] = _mm512_loadu_si512(from + i * kInt8MostLanes);
    if constexpr (kVectors == 2) swap_halves(v[0], v[1]);
  }

  // Where the rows of the first column lie, and its neighbours from there.
  HWY_INLINE void begin(const int8_t** lines, int64_t* steps, int column) const {
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i) {
      steps[i] = rows_.steps[i];
      lines[i] = rows_.lines[i] + std::max(column, 0) * steps[i];
    }
  }

  // The words of a column, and to the next one.
  HWY_INLINE void next_word(__m512i* to, const int8_t** lines, const int64_t* steps,
                            int& column) const {
    if (HWY_LIKELY(static_cast<unsigned>(column) < width_)) {
      word(to, lines[0], lines[1], lines[2], lines[3]);
      THIMBLE_UNROLL
      for (int i = 0; i < 4; ++i) lines[i] += steps[i];
    } else {
      word(to, rows_.blank, rows_.blank, rows_.blank, rows_.blank);
    }
    ++column;
  }
  HWY_INLINE void word(__m512i* to, const int8_t* row0, const int8_t* row1, const int8_t* row2,
                       const int8_t* row3) const {
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    if constexpr (kVectors == 4) {
      const auto at = [sign](const int8_t* row)
                          HWY_ATTR { return _mm512_xor_si512(sign, _mm512_loadu_si512(row)); };
      const __m512i rows[4] = {at(row0), at(row1), at(row2), at(row3)};
      const __m512i low = _mm512_unpacklo_epi8(rows[0], rows[1]);
      const __m512i high = _mm512_unpackhi_epi8(rows[0], rows[1]);
      const __m512i low2 = _mm512_unpacklo_epi8(rows[2], rows[3]);
      const __m512i high2 = _mm512_unpackhi_epi8(rows[2], rows[3]);
      to[0] = _mm512_unpacklo_epi16(low, low2);
      to[1] = _mm512_unpackhi_epi16(low, low2);
      to[2] = _mm512_unpacklo_epi16(high, high2);
      to[3] = _mm512_unpackhi_epi16(high, high2);
    } else if constexpr (kVectors == 2) {
      const auto join = [](const int8_t* low, const int8_t* high) HWY_ATTR {
        const auto at = [](const int8_t* row) HWY_ATTR {
          return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
        };
        return _mm512_inserti64x4(_mm512_castsi256_si512(at(low)), at(high), 1);
      };
      const __m512i even = _mm512_xor_si512(join(row0, row2), sign);
      const __m512i odd = _mm512_xor_si512(join(row1, row3), sign);
      const __m512i pairs =
          _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
                           6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
      to[0] = _mm512_permutexvar_epi16(pairs, _mm512_unpacklo_epi8(even, odd));
      to[1] = _mm512_permutexvar_epi16(pairs, _mm512_unpackhi_epi8(even, odd));
    } else {
      const __mmask16 some = some_;
      const auto join = [some](const int8_t* low, const int8_t* high) HWY_ATTR {
        const auto at = [some](const int8_t* row) HWY_ATTR {
          if (kChannels == 0) return _mm_maskz_loadu_epi8(some, row);
          return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row));
        };
        return _mm256_inserti128_si256(_mm256_castsi128_si256(at(low)), at(high), 1);
      };
      const __m256i even = join(row0, row2);
      const __m256i odd = join(row1, row3);
      const __m512i pairs =
          _mm512_set_epi16(31, 23, 30, 22, 29, 21, 28, 20, 27, 19, 26, 18, 25, 17, 24, 16, 15, 7,
                           14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0);
      const __m512i all =
          _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_unpacklo_epi8(even, odd)),
                             _mm256_unpackhi_epi8(even, odd), 1);
      to[0] = _mm512_permutexvar_epi16(pairs, _mm512_xor_si512(all, sign));
    }
  }

  // Moves a window by kBy columns.
  template <int kBy, int kColumns>
  HWY_INLINE void move(__m512i (&window)[kColumns][kVectors], const int8_t** lines,
                       const int64_t* steps, int& column) const {
    THIMBLE_UNROLL
    for (int i = 0; i < kColumns; ++i) {
      if (i + kBy >= kColumns) {
        next_word(window[i], lines, steps, column);
        continue;
      }
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) window[i][v] = window[i + kBy][v];
    }
  }

  // The sums of a pixel in a row of y.
  HWY_INLINE void add_row(__m512i* sums, const __m512i (*window)[kVectors], int row) const {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      __m512i sum = start_[v];
      THIMBLE_UNROLL
      for (int tap = 0; tap < kTaps; ++tap) {
        sum = Quads::dot(VecI{sum}, VecI{window[tap][v]}, VecI{weights_[row][tap][v]}).raw;
      }
      sums[v] = sum;
    }
  }

  // The results of the sums: of each row of each pixel, 32 or 16 bytes.
  HWY_INLINE __m512i bytes(const __m512i* sums) const {
    __m512i y[4];
    if constexpr (kFixed) {
      __m512 rest[4];
      THIMBLE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int v = i % kVectors;
        y[i] = Finish::nearly_fixed(sums[i], _mm512_castsi512_ps(scale_[v]), nudge_[v], rest[i]);
      }
      if (HWY_UNLIKELY(Finish::is_unsure<4>(rest))) return exact(sums);
    } else {
      THIMBLE_UNROLL
      for (int i = 0; i < 4; ++i) {
        const __m512 scale = _mm512_castsi512_ps(scale_[i % kVectors]);
        // Within int32; what follows saturates.
        y[i] = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[i]), scale));
      }
    }
    const __m512i order =
        kVectors == 1 ? Finish::order()
                      : _mm512_set_epi32(15, 11, 14, 10, 7, 3, 6, 2, 13, 9, 12, 8, 5, 1, 4, 0);
    const __m512i all = is_bounded_ ? Finish::pack(y, bounds_) : Finish::pack_whole(y, bounds_);
    return kVectors == 4 ? all : _mm512_permutexvar_epi32(order, all);
  }
  HWY_INLINE __m512i exact(const __m512i* sums) const {
    __m512i v[4] = {sums[0], sums[1], sums[2], sums[3]};
    if constexpr (kVectors == 2) swap_halves(v[0], v[1]), swap_halves(v[2], v[3]);
    const int first = rows_.channel;
    if constexpr (kVectors == 4) {
      const __m512i all =
          finish_.exact_bytes(v[0], v[1], v[2], v[3], first, first + 16, first + 32, first + 48);
      return _mm512_permutexvar_epi32(Finish::order(), all);  // back
    }
    const int second = kVectors == 2 ? first + kInt8MostLanes : first;
    return finish_.exact_bytes(v[0], v[1], v[2], v[3], first, second, first, second);
  }

  // pixels: from this one on.
  HWY_INLINE void store(__m512i all, int8_t* y, int64_t down, int64_t right, int pixels,
                        int rows) const {
    const auto store_one = [&](auto part) HWY_ATTR {
      constexpr int kPart = decltype(part)::value;
      constexpr int kPixel = kPart / kRows;
      constexpr int kRow = kPart % kRows;
      if (kPixel >= pixels || kRow >= rows) return;
      int8_t* const to = y + kPixel * right + kRow * down;
      if constexpr (kVectors == 2) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_extracti64x4_epi64(all, kPart));
      } else if constexpr (kChannels == 16) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_extracti32x4_epi32(all, kPart));
      } else {
        _mm_mask_storeu_epi8(to, some_, _mm512_extracti32x4_epi32(all, kPart));
      }
    };
    store_one(std::integral_constant<int, 0>());
    store_one(std::integral_constant<int, 1>());
    if constexpr (kVectors == 1) {
      store_one(std::integral_constant<int, 2>());
      store_one(std::integral_constant<int, 3>());
    }
  }

  const Finish& finish_;
  const QuickRows& rows_;
  unsigned width_;  // of the image
  __mmask16 some_;  // the channels
  bool is_bounded_;
  Finish::Bounds bounds_;
  __m512i start_[kVectors], scale_[kVectors], nudge_[kVectors];
  const int32_t *from_, *start_from_;
  int64_t words_, stride_;
  __m512i weights_[kRows][kTaps][kVectors];
};
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
