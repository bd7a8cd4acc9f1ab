// Depthwise convolutions of int8 images. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#undef THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#else
#define THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#endif

#include <type_traits>

#include "parallel/thread_pool.h"
#include "simd/int8-inl.h"
#include "simd/int8_depthwise_quick-inl.h"
#include "simd/int8_layout.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// A depthwise convolution. For every column of the image under some neighbouring pixels of a row, a
// word a channel holds the taps of neighbouring rows; a pixel adds the products of those words. So
// a word is made once for all windows of a row that it lies in, or of two rows of y where it has
// room for the taps of both: they differ in their packed weights.
template <class Words>
class Depthwise {
 public:
  // wide: channels that go 64 at once.
  Depthwise(const conv_dims& d, const Int8Layout& layout, const Int8Scratch& s,
            const Int8Result& result, int wide)
      : d_(d),
        layout_(layout),
        s_(s),
        wide_(wide),
        zero_(result.input_zero_point),
        rows_(int8_depthwise_rows(d, Words::kUnit)),
        span_(d.r + (rows_ - 1) * d.stride_h),
        units_((span_ + Words::kUnit - 1) / Words::kUnit),
        padded_(round_up(d.c, kInt8MostLanes)) {
    std::fill_n(blank_, kInt8WideChannels, static_cast<int8_t>(zero_));
  }

  [[nodiscard]] int rows() const { return rows_; }

  // Packs the weights of a vector of positions.
  void pack_weights(const int8_t* w, int vector) const {
    const int first = vector * lanes();
    const int64_t taps = int64_t{layout_.window_h} * layout_.window_w;
    const int64_t down = int64_t{layout_.row_step} * layout_.window_w;
    const bool is_three =
        d_.r == 3 && d_.s == 3 && taps == 9 && layout_.row_step == 1 && layout_.column_step == 1;
    for (int k = first; k < first + lanes(); ++k) {
      const int c = int8_channel_at(k, wide_);
      const int8_t* column =
          w + c * taps + int64_t{layout_.first_row} * layout_.window_w + layout_.first_column;
      int32_t* to = s_.weights + k;
      if (Words::kUnit == 4 && is_three && c < d_.c) {
        words_of_three(to, padded_, column);
        continue;
      }
      for (int s = 0; s < d_.s; ++s, column += layout_.column_step) {
        for (int r = 0; r < d_.r; r += Words::kUnit, to += padded_) {
          const int count = c < d_.c ? std::min(Words::kUnit, d_.r - r) : 0;
          const int8_t* const taps = column + r * down;
          const auto part = [&](int i)
                                HWY_ATTR { return part_of_word<Words::kUnit>(taps[i * down], i); };
          uint32_t word = 0;
          if (Words::kUnit == 4 && count >= 3) {
            word = part(0) | part(1) | part(2);
            if (count == 4) word |= part(3);
          } else {
            for (int i = 0; i < count; ++i) word |= part(i);
          }
          *to = static_cast<int32_t>(word);
        }
      }
    }
    if (rows_ > 1) shift_weights(first);
    hn::Store(Words::start(s_.weights + first, units_ * d_.s, padded_, zero_), I32(),
              s_.start + first);
  }

  // Rows p and, where they share words, p + 1 of an image. y: of row p.
  void row(int8_t* y, const int8_t* image, int p, int32_t* columns, const Finish& finish) const {
#if THIMBLE_INT8_VNNI
    if constexpr (Words::kUnit == 4) {
      if (is_int8_quick_depthwise(d_) && finish.is_quick()) {
        return quick_row(y, image, p, finish);
      }
      for (int c = 0; c < wide_; c += kInt8WideChannels) wide_row(y, image, p, c, columns, finish);
    }
#endif
    const int run = int8_depthwise_run(d_);
    for (int first = wide_; first < d_.c; first += lanes()) {
      // The last vector of channels lies over the one before, so that it is whole.
      const int c = d_.c < lanes() ? 0 : std::min(first, d_.c - lanes());
      const int channels = std::min(lanes(), d_.c);
      for (int q = 0; q < d_.q; q += run) {
        const int pixels = std::min(run, d_.q - q);
        const auto count = static_cast<int>(int8_depthwise_columns(d_, pixels));
        pack(columns, image, p, q * d_.stride_w - d_.pad_left, count, c, channels);
        for (int row = 0; row < std::min(rows_, d_.p - p); ++row) {
          int8_t* const to = y + row * layout_.row + q * layout_.column + c;
          const int32_t* const weights = s_.weights + row * row_words() + c;
          int i = 0;
          for (; i + 8 <= pixels; i += 8) {
            add<8>(to, columns, i, count, weights, c, channels, finish);
          }
          for (; i + 4 <= pixels; i += 4) {
            add<4>(to, columns, i, count, weights, c, channels, finish);
          }
          for (; i < pixels; ++i) add<1>(to, columns, i, count, weights, c, channels, finish);
        }
      }
    }
  }

 private:
  // Packs the weights of the second row of y: those of the first, stride_h taps later.
  void shift_weights(int first) const {
    const I32 d;
    const hn::RebindToUnsigned<I32> unsigned_words;
    const int bits = d_.stride_h * (32 / Words::kUnit);
    const int32_t* from = s_.weights + first;
    int32_t* to = s_.weights + row_words() + first;
    for (int s = 0; s < d_.s; ++s) {
      VecI before = hn::Zero(d);
      for (int unit = 0; unit < units_; ++unit, from += padded_, to += padded_) {
        const VecI word = hn::Load(d, from);
        const auto rest = hn::ShiftRightSame(hn::BitCast(unsigned_words, before), 32 - bits);
        hn::Store(hn::Or(hn::ShiftLeftSame(word, bits), hn::BitCast(d, rest)), d, to);
        before = word;
      }
    }
  }
  // Packed weights of a row of y.
  [[nodiscard]] int64_t row_words() const { return int64_t{units_} * d_.s * padded_; }

#if THIMBLE_INT8_VNNI
  // Rows p and p + 1, or row p of windows of stride 2.
  void quick_row(int8_t* y, const int8_t* image, int p, const Finish& finish) const {
    for (int c = 0; c < d_.c;) {
      const int left = d_.c - c;
      QuickRows rows{};
      rows.channels = c < wide_ ? 64 : left >= 32 ? 32 : std::min(left, lanes());
      // The last vector of channels lies over the one before, so that it is whole.
      if (left < lanes() && d_.c >= lanes()) rows.channels = lanes(), c = d_.c - lanes();
      rows.channel = c;
      rows.y = y + c;
      rows.rows = std::min(rows_, d_.p - p);
      rows.pixels = d_.q;
      rows.column = -d_.pad_left;
      rows.blank = blank_;
      for (int i = 0; i < 4; ++i) {
        const int row = p * d_.stride_h - d_.pad_top + i;
        const bool inside = i < span_ && row >= 0 && row < d_.h;
        rows.lines[i] = inside ? image + int64_t{row} * d_.w * d_.c + c : blank_;
        rows.steps[i] = inside ? d_.c : 0;
      }
      if (d_.stride_w == 1) quick_channels<2, 1>(rows, finish);
      if (d_.stride_w == 2) quick_channels<1, 2>(rows, finish);
      c += rows.channels;
    }
  }
  template <int kRows, int kStep>
  void quick_channels(const QuickRows& rows, const Finish& finish) const {
    const auto run = [&](auto channels) HWY_ATTR {
      constexpr int kChannels = decltype(channels)::value;
      if (finish.is_fixed()) return quick_run<kChannels, kRows, kStep, true>(rows, finish);
      quick_run<kChannels, kRows, kStep, false>(rows, finish);
    };
    if (rows.channels == 64) return run(std::integral_constant<int, 64>());
    if (rows.channels == 32) return run(std::integral_constant<int, 32>());
    if (rows.channels == 16) return run(std::integral_constant<int, 16>());
    run(std::integral_constant<int, 0>());
  }
  template <int kChannels, int kRows, int kStep, bool kFixed>
  HWY_NOINLINE void quick_run(const QuickRows& rows, const Finish& finish) const {
    const QuickDepthwise<kChannels, kRows, kStep, kFixed> run(d_, s_, row_words(), padded_, finish,
                                                              rows);
    run.run(layout_.row, layout_.column);
  }

  // Row p of 64 channels from c on.
  void wide_row(int8_t* y, const int8_t* image, int p, int c, int32_t* columns,
                const Finish& finish) const {
    const int run = int8_wide_run(d_);
    for (int q = 0; q < d_.q; q += run) {
      const int pixels = std::min(run, d_.q - q);
      const auto count = static_cast<int>(int8_depthwise_columns(d_, pixels));
      const int left = q * d_.stride_w - d_.pad_left;
      int32_t* to = columns;
      for (int unit = 0; unit < units_; ++unit, to += int64_t{count} * kInt8WideChannels) {
        const int first = unit * Words::kUnit;
        const int rows = std::min(Words::kUnit, span_ - first);
        if (rows == 1) pack_wide<1>(to, image, p, first, left, count, c);
        if (rows == 2) pack_wide<2>(to, image, p, first, left, count, c);
        if (rows == 3) pack_wide<3>(to, image, p, first, left, count, c);
        if (rows == 4) pack_wide<4>(to, image, p, first, left, count, c);
      }
      for (int row = 0; row < std::min(rows_, d_.p - p); ++row) {
        int8_t* const out = y + row * layout_.row + q * layout_.column + c;
        const int32_t* const weights = s_.weights + row * row_words() + c;
        const bool neighbours = d_.stride_w == 1 && d_.dilation_w == 1;
        int i = 0;
        for (; i + 4 <= pixels; i += 4) {
          if (neighbours && d_.s == 3) {
            add_wide<4, 3>(out, columns, i, count, weights, c, finish);
          } else if (neighbours && d_.s == 5) {
            add_wide<4, 5>(out, columns, i, count, weights, c, finish);
          } else if (neighbours && d_.s == 7) {
            add_wide<4, 7>(out, columns, i, count, weights, c, finish);
          } else {
            add_wide<4, 0>(out, columns, i, count, weights, c, finish);
          }
        }
        for (; neighbours && d_.s == 3 && i + 2 <= pixels; i += 2) {
          add_wide<2, 3>(out, columns, i, count, weights, c, finish);
        }
        for (; i < pixels; ++i) {
          if (neighbours && d_.s == 3) {
            add_wide<1, 3>(out, columns, i, count, weights, c, finish);
          } else {
            add_wide<1, 0>(out, columns, i, count, weights, c, finish);
          }
        }
      }
    }
  }

  // The words of a unit in `count` columns: [count][4 vectors].
  template <int kRows>
  HWY_NOINLINE void pack_wide(int32_t* to, const int8_t* image, int p, int first, int left,
                              int count, int c) const {
    const int8_t* lines[4] = {blank_, blank_, blank_, blank_};
    int64_t steps[4] = {};
    for (int i = 0; i < kRows; ++i) {
      const int row = p * d_.stride_h - d_.pad_top + (first + i) * d_.dilation_h;
      if (row < 0 || row >= d_.h) continue;
      lines[i] = image + int64_t{row} * d_.w * d_.c + c;
      steps[i] = d_.c;
    }
    const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
    const int begin = std::clamp(-left, 0, count);
    const int end = std::clamp(d_.w - left, begin, count);
    const auto pack = [&](int i, const __m512i* rows) HWY_ATTR {
      const __m512i low = _mm512_unpacklo_epi8(rows[0], rows[1]);
      const __m512i high = _mm512_unpackhi_epi8(rows[0], rows[1]);
      const __m512i low2 = _mm512_unpacklo_epi8(rows[2], rows[3]);
      const __m512i high2 = _mm512_unpackhi_epi8(rows[2], rows[3]);
      int32_t* const at = to + int64_t{i} * kInt8WideChannels;
      _mm512_store_si512(at, _mm512_unpacklo_epi16(low, low2));
      _mm512_store_si512(at + 16, _mm512_unpackhi_epi16(low, low2));
      _mm512_store_si512(at + 32, _mm512_unpacklo_epi16(high, high2));
      _mm512_store_si512(at + 48, _mm512_unpackhi_epi16(high, high2));
    };
    __m512i rows[4];
    for (auto& row : rows) row = _mm512_xor_si512(_mm512_load_si512(blank_), sign);
    for (int i = 0; i < begin; ++i) pack(i, rows);
    for (int i = end; i < count; ++i) pack(i, rows);
    if (begin == end) return;
    for (int row = 0; row < kRows; ++row) lines[row] += int64_t{left + begin} * steps[row];
    for (int i = begin; i < end; ++i) {
      THIMBLE_UNROLL
      for (int row = 0; row < kRows; ++row) {
        rows[row] = _mm512_xor_si512(_mm512_loadu_si512(lines[row]), sign);
        lines[row] += steps[row];
      }
      pack(i, rows);
    }
  }

  // kTaps: columns of the window, which are neighbours as those of neighbouring pixels are; or 0.
  template <int kCount, int kTaps>
  HWY_NOINLINE void add_wide(int8_t* y, const int32_t* columns, int q, int count,
                             const int32_t* weights, int c, const Finish& shared) const {
    const Finish finish = shared;
    const I32 d;
    VecI sums[kCount][4];
    THIMBLE_UNROLL
    for (int v = 0; v < 4; ++v) {
      const VecI start = hn::Load(d, s_.start + c + v * kInt8MostLanes);
      THIMBLE_UNROLL
      for (int i = 0; i < kCount; ++i) sums[i][v] = start;
    }
    const int64_t step = int64_t{d_.stride_w} * kInt8WideChannels;
    if constexpr (kTaps > 0) {
      const int32_t* from = columns + int64_t{q} * kInt8WideChannels;
      for (int unit = 0; unit < units_; ++unit) {
        THIMBLE_UNROLL
        for (int v = 0; v < 4; ++v) {
          // A word is read once for all windows that it lies in.
          VecI x[kCount + kTaps - 1];
          THIMBLE_UNROLL
          for (int i = 0; i < kCount + kTaps - 1; ++i) {
            x[i] = hn::Load(d, from + i * kInt8WideChannels + v * kInt8MostLanes);
          }
          THIMBLE_UNROLL
          for (int s = 0; s < kTaps; ++s) {
            const VecI weight =
                hn::Load(d, weights + (s * units_ + unit) * padded_ + v * kInt8MostLanes);
            THIMBLE_UNROLL
            for (int i = 0; i < kCount; ++i) sums[i][v] = Words::dot(sums[i][v], x[i + s], weight);
          }
        }
        from += int64_t{count} * kInt8WideChannels;
      }
    }
    for (int s = 0; kTaps == 0 && s < d_.s; ++s) {
      const int32_t* from =
          columns + (int64_t{q} * d_.stride_w + int64_t{s} * d_.dilation_w) * kInt8WideChannels;
      for (int unit = 0; unit < units_; ++unit, weights += padded_) {
        THIMBLE_UNROLL
        for (int v = 0; v < 4; ++v) {
          const VecI weight = hn::Load(d, weights + v * kInt8MostLanes);
          THIMBLE_UNROLL
          for (int i = 0; i < kCount; ++i) {
            const VecI x = hn::Load(d, from + i * step + v * kInt8MostLanes);
            sums[i][v] = Words::dot(sums[i][v], x, weight);
          }
        }
        from += int64_t{count} * kInt8WideChannels;
      }
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kCount; ++i) finish.store_wide(sums[i], y + (q + i) * layout_.column, c);
  }
#endif

  // The words of `count` columns from number `left` on, which may lie outside: [units][count].
  HWY_INLINE void pack(int32_t* to, const int8_t* image, int p, int left, int count, int c,
                       int channels) const {
    for (int unit = 0; unit < units_; ++unit, to += int64_t{count} * lanes()) {
      const int first = unit * Words::kUnit;
      const int rows = std::min(Words::kUnit, span_ - first);
      if (rows == 1) pack_unit<1>(to, image, p, first, left, count, c, channels);
      if (rows == 2) pack_unit<2>(to, image, p, first, left, count, c, channels);
      if constexpr (Words::kUnit > 2) {
        if (rows == 3) pack_unit<3>(to, image, p, first, left, count, c, channels);
        if (rows == 4) pack_unit<4>(to, image, p, first, left, count, c, channels);
      }
    }
  }

  template <int kRows>
  HWY_NOINLINE void pack_unit(int32_t* to, const int8_t* image, int p, int first, int left,
                              int count, int c, int channels) const {
    const I32 d;
    const int8_t* lines[kRows];
    int64_t steps[kRows];
    for (int i = 0; i < kRows; ++i) {
      const int row = p * d_.stride_h - d_.pad_top + (first + i) * d_.dilation_h;
      const bool inside = row >= 0 && row < d_.h;
      lines[i] = inside ? image + int64_t{row} * d_.w * d_.c + c : blank_;
      steps[i] = inside ? d_.c : 0;
    }
    const auto blank = [&](int /*row*/) HWY_ATTR { return hn::LoadU(I8(), blank_); };
    const VecI outside = Words::template gather<kRows>(blank, zero_);
    const int begin = std::clamp(-left, 0, count);
    const int end = std::clamp(d_.w - left, begin, count);
    for (int i = 0; i < begin; ++i) hn::Store(outside, d, to + int64_t{i} * lanes());
    for (int i = end; i < count; ++i) hn::Store(outside, d, to + int64_t{i} * lanes());
    if (begin == end) return;
    if (channels == lanes()) {
      for (int row = 0; row < kRows; ++row) lines[row] += int64_t{left + begin} * steps[row];
      for (int i = begin; i < end; ++i) {
        const auto load = [&](int row) HWY_ATTR {
          const auto x = hn::LoadU(I8(), lines[row]);
          lines[row] += steps[row];
          return x;
        };
        hn::Store(Words::template gather<kRows>(load, zero_), d, to + int64_t{i} * lanes());
      }
      return;
    }
#if HWY_TARGET == HWY_AVX3
    const auto some = static_cast<__mmask16>((1U << channels) - 1);
#endif
    for (int i = begin; i < end; ++i) {
      const int64_t column = left + i;
      const auto load = [&](int row) HWY_ATTR {
        const int8_t* const from = lines[row] + column * steps[row];
#if HWY_TARGET == HWY_AVX3
        return hn::Vec<I8>{_mm_maskz_loadu_epi8(some, from)};
#else
        alignas(64) int8_t few[kInt8MostLanes] = {};
        std::memcpy(few, from, static_cast<size_t>(channels));
        return hn::LoadU(I8(), few);
#endif
      };
      hn::Store(Words::template gather<kRows>(load, zero_), d, to + int64_t{i} * lanes());
    }
  }

  // kCount neighbouring pixels, the first of them number q of the packed ones.
  template <int kCount>
  HWY_NOINLINE void add(int8_t* y, const int32_t* columns, int q, int count, const int32_t* weights,
                        int c, int channels, const Finish& shared) const {
    const Finish finish = shared;
    const I32 d;
    VecI sums[kCount];
    const VecI start = hn::LoadU(d, s_.start + c);
    THIMBLE_UNROLL
    for (int i = 0; i < kCount; ++i) sums[i] = start;
    const int64_t step = int64_t{d_.stride_w} * lanes();
    for (int s = 0; s < d_.s; ++s) {
      const int32_t* from =
          columns + (int64_t{q} * d_.stride_w + int64_t{s} * d_.dilation_w) * lanes();
      for (int unit = 0; unit < units_; ++unit, weights += padded_) {
        const VecI weight = hn::LoadU(d, weights);
        THIMBLE_UNROLL
        for (int i = 0; i < kCount; ++i) {
          sums[i] = Words::dot(sums[i], hn::Load(d, from + i * step), weight);
        }
        from += int64_t{count} * lanes();
      }
    }
#if HWY_TARGET == HWY_AVX3
    if constexpr (kCount % 4 == 0) {
      if (!finish.goes_one_by_one()) {
        THIMBLE_UNROLL
        for (int i = 0; i < kCount; i += 4) {
          int8_t* const first = y + (q + i) * layout_.column;
          int8_t* const to[4] = {first, first + layout_.column, first + 2 * layout_.column,
                                 first + 3 * layout_.column};
          finish.store_pixels(sums + i, to, 0, c, channels);
        }
        return;
      }
    }
#endif
    THIMBLE_UNROLL
    for (int i = 0; i < kCount; ++i) {
      finish.store(sums[i], y + (q + i) * layout_.column, c, c, channels);
    }
  }

  const conv_dims& d_;
  const Int8Layout& layout_;
  const Int8Scratch& s_;
  int wide_;
  int zero_;
  int rows_;        // of y that share words
  int span_;        // rows of the image under them
  int units_;       // words of a column
  int64_t padded_;  // channels
  alignas(64) int8_t blank_[kInt8WideChannels];
};

// Bias and factors, and the channels that go 64 at once.
template <class Words>
void prepare_depthwise_channels(const int32_t* bias, const Int8Scratch& s, const conv_dims& d,
                                const Int8Result& result) {
#if THIMBLE_INT8_VNNI
  int wide = Words::kUnit == 4 ? int8_wide_channels(d.c) : 0;
#else
  int wide = 0;
#endif
  const auto channel_at = [&wide](int k) { return int8_channel_at(k, wide); };
  prepare_channels(s, bias, result, d.k, channel_at);
  if (wide > 0 && result.out.fixed_point != 0 && !s.factors->below_one) {  // goes one by one
    wide = 0;
    prepare_channels(s, bias, result, d.k, channel_at);
  }
  s.factors->folds = can_fold(bias, 0, d.k, int64_t{d.r} * d.s);
  s.factors->wide = wide;
}

template <class Words>
void convolve_depthwise(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                        const Int8Scratch& s, const conv_dims& d, const Int8Layout& layout,
                        const Int8Result& result, parallel::ThreadPool& pool, Int8Part part) {
  if (part != Int8Part::pixels) prepare_depthwise_channels<Words>(bias, s, d, result);
  const Depthwise<Words> channels(d, layout, s, result, s.factors->wide);
  if (part != Int8Part::pixels) {
    const bool folds = s.factors->folds;
    pool.run(divide_up(d.c, lanes()), [&](int64_t v) HWY_ATTR {
      channels.pack_weights(w, static_cast<int>(v));
      for (int64_t k = v * lanes(); folds && k < (v + 1) * lanes(); ++k) s.start[k] += s.bias[k];
    });
  }
  if (part == Int8Part::weights) return;
  const Finish finish(result, s);
  const int64_t in_image = divide_up(d.p, channels.rows());
  pool.run_with_worker(d.n * in_image, [&](int64_t task, int worker) HWY_ATTR {
    const int64_t image = task / in_image;
    const int row = static_cast<int>(task % in_image) * channels.rows();
    channels.row(y + image * layout.image + row * layout.row, x + image * d.h * d.w * d.c, row,
                 s.pixels + worker * s.worker_words, finish);
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
