// Gradients of int8 depthwise convolutions from errors of int8: channels lie side by side, words
// are of two pixels of a row. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_ERRORS_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ERRORS_DEPTHWISE_INL_H_
#undef THIMBLE_SIMD_INT8_ERRORS_DEPTHWISE_INL_H_
#else
#define THIMBLE_SIMD_INT8_ERRORS_DEPTHWISE_INL_H_
#endif

#include "simd/int8_errors_scratch.h"
#include "simd/int8_errors_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// In the input. A task computes some rows of two vectors of channels: it makes words of the errors
// q and q - 1, which neighbouring taps read.
template <class Words>
class DepthwiseErrorInputs {
 public:
  DepthwiseErrorInputs(const conv_dims& d, const ErrorInputsScratch& s, const Int8Error& error,
                       const float* units)
      : d_(d),
        s_(s),
        error_(error),
        units_(units),
        blocks_(divide_up(d.c, 2 * lanes())),
        bands_(divide_up(d.h, s.band)) {}

  [[nodiscard]] int64_t tasks() const { return d_.n * bands_ * blocks_; }

  // The words of a pair of taps: of tap s, and of the one after it that reads the error before,
  // where there is one. Called once.
  void pack(const int8_t* w, parallel::ThreadPool& pool) const {
    const I32 d;
    const int taps = d_.r * d_.s;
    pool.run(blocks_, [&](int64_t block) HWY_ATTR {
      const auto c = static_cast<int>(block) * 2 * lanes();
      HWY_ALIGN int32_t words[kErrorChannels];
      for (int tap = 0; tap < taps; ++tap) {
        const int next = next_tap(tap % d_.s);
        for (int i = 0; i < 2 * lanes(); ++i) {
          const int8_t* const of = w + int64_t{c + i} * taps + tap;
          const bool is_channel = c + i < d_.c;
          const int low = is_channel ? of[0] : 0;
          const int high = is_channel && next >= 0 ? of[next - tap % d_.s] : 0;
          words[i] = static_cast<int32_t>((static_cast<uint32_t>(low) & 0xFFFF) |
                                          static_cast<uint32_t>(high) << 16);
        }
        int32_t* const to = s_.taps + (block * taps + tap) * 2 * lanes();
        hn::Store(hn::Load(d, words), d, to);
        hn::Store(hn::Load(d, words + lanes()), d, to + lanes());
      }
    });
  }

  int32_t run(int64_t task, int worker, const ErrorResult& to) const {
    LargestSizes most;
    const auto c = static_cast<int>(task % blocks_) * 2 * lanes();
    const int64_t image = task / blocks_ / bands_;
    const auto first = static_cast<int>(task / blocks_ % bands_) * s_.band;
    const int end = std::min(d_.h, first + s_.band);
    // Rows of e that these read.
    const int low = first + d_.pad_top - (d_.r - 1) * d_.dilation_h;
    const int p = std::max(0, low <= 0 ? 0 : (low + d_.stride_h - 1) / d_.stride_h);
    const int high = end - 1 + d_.pad_top;
    const int p_end = high < 0 ? 0 : std::min(d_.p, high / d_.stride_h + 1);
    int32_t* const words = s_.words + worker * s_.worker_words;
    int32_t* const zeros = words + s_.worker_words - kErrorChannels;
    std::memset(zeros, 0, sizeof(int32_t) * kErrorChannels);
    for (int row = p; row < p_end; ++row) {
      pack_row(words + (row - p) * row_words(), (image * d_.p + row) * d_.q, c);
    }
    for (int h = first; h < end; ++h) {
      for (int phase = 0; phase < d_.stride_w && phase < d_.w; ++phase) {
        const Row row{h, phase, (d_.w - phase + d_.stride_w - 1) / d_.stride_w, p, words, zeros};
        for (int j = 0; j < row.count; j += kPixels) run_tile(row, j, image, c, to, most);
      }
    }
    return most.bits();
  }

 private:
  static constexpr int kPixels = 4;
  struct Row {
    int h;
    int column;
    int count;
    int p;  // the first row of the words
    const int32_t* words;
    const int32_t* zeros;
  };

  [[nodiscard]] int64_t row_words() const { return int64_t{d_.q + 1} * 2 * lanes(); }

  // Whether the next tap that reads an error reads the one before, and which that is.
  [[nodiscard]] bool has_pairs() const { return d_.stride_w % d_.dilation_w == 0; }
  [[nodiscard]] int tap_step() const { return d_.stride_w / d_.dilation_w; }
  // -1: none.
  [[nodiscard]] int next_tap(int s) const {
    return has_pairs() && s + tap_step() < d_.s ? s + tap_step() : -1;
  }

  HWY_INLINE void pack_row(int32_t* to, int64_t pixel, int c) const {
    const I32 d;
    const int64_t total = int64_t{d_.n} * d_.p * d_.q * d_.c;
    for (int v = 0; v < 2; ++v) {
      const int n = std::min(lanes(), d_.c - c - v * lanes());
      VecI before = hn::Zero(d);
      for (int q = 0; q <= d_.q; ++q) {
        const VecI own = q < d_.q && n > 0
                             ? load_errors(error_, (pixel + q) * d_.c + c + v * lanes(), n, total)
                             : hn::Zero(d);
        hn::Store(joined_words(own, before), d, to + (q * 2 + v) * lanes());
        before = own;
      }
    }
  }

  HWY_INLINE void run_tile(const Row& row, int j, int64_t image, int c, const ErrorResult& to,
                           LargestSizes& most) const {
    const I32 d;
    const F32 f;
    VecI all[kPixels][2];
    THIMBLE_UNROLL
    for (int i = 0; i < kPixels; ++i) all[i][0] = all[i][1] = hn::Zero(d);
    const int taps = d_.r * d_.s;
    const int32_t* const packed = s_.taps + int64_t{c} * taps;
    for (int r = 0; r < d_.r; ++r) {
      const int from_h = row.h + d_.pad_top - r * d_.dilation_h;
      if (from_h < 0 || from_h % d_.stride_h != 0 || from_h / d_.stride_h >= d_.p) continue;
      const int32_t* const line = row.words + (from_h / d_.stride_h - row.p) * row_words();
      for (int s = 0; s < d_.s;) {
        const int from_w = row.column + d_.pad_left - s * d_.dilation_w;
        if (from_w % d_.stride_w != 0) {
          ++s;
          continue;
        }
        const int q = from_w / d_.stride_w + j;
        const int32_t* const w = packed + int64_t{r * d_.s + s} * 2 * lanes();
        const VecI w0 = hn::Load(d, w);
        const VecI w1 = hn::Load(d, w + lanes());
        THIMBLE_UNROLL
        for (int i = 0; i < kPixels; ++i) {
          const bool inside = q + i >= 0 && q + i <= d_.q;
          const int32_t* const e = inside ? line + int64_t{q + i} * 2 * lanes() : row.zeros;
          all[i][0] = Words::dot(all[i][0], hn::Load(d, e), w0);
          all[i][1] = Words::dot(all[i][1], hn::Load(d, e + lanes()), w1);
        }
        s += has_pairs() ? 2 * tap_step() : 1;
      }
    }
    const int rows = std::min(kPixels, row.count - j);
    for (int v = 0; v < 2; ++v) {
      const int n = std::min(lanes(), d_.c - c - v * lanes());
      if (n <= 0) break;
      const Vec unit = hn::LoadU(f, units_ + c + v * lanes());
      for (int i = 0; i < rows; ++i) {
        const int64_t column = row.column + int64_t{j + i} * d_.stride_w;
        const int64_t at = ((image * d_.h + row.h) * d_.w + column) * d_.c + c + v * lanes();
        take_gradients(to, hn::Mul(hn::ConvertTo(f, all[i][v]), unit), at, n, most);
      }
    }
  }

  const conv_dims& d_;
  const ErrorInputsScratch& s_;
  const Int8Error& error_;
  const float* units_;
  int64_t blocks_;  // of channels
  int64_t bands_;   // of rows of dx
};

// In the weights. A task computes two vectors of channels: for each row of e it makes words of two
// errors, and of each row of x, once for all taps, words of the numbers that these multiply.
template <class Words>
class DepthwiseErrorWeights {
 public:
  DepthwiseErrorWeights(const conv_dims& d, const ErrorWeightsScratch& s, const int8_t* x,
                        int32_t zero, const Int8Error& error)
      : d_(d), s_(s), x_(x), zero_(zero), error_(error) {}

  [[nodiscard]] int64_t tasks() const { return divide_up(d_.c, 2 * lanes()); }

  void run(int64_t task, int worker, float* dw, const float* units) const {
    const auto c = static_cast<int>(task) * 2 * lanes();
    const int taps = d_.r * d_.s;
    int32_t* const errors = s_.own + worker * s_.own_words;
    int32_t* const image = errors + s_.row_words;
    int32_t* const sums = image + s_.rows * s_.image_words;
    const int count = taps * 2 * lanes();
    // int64 numbers lie unaligned.
    int32_t* const whole = sums + taps * kErrorChannels;
    std::memset(sums, 0, sizeof(int32_t) * static_cast<size_t>(taps) * kErrorChannels * 3);
    int64_t pixels = 0;
    for (int64_t n = 0; n < d_.n; ++n) {
      int ready = 0;  // rows of x before this one are packed
      for (int p = 0; p < d_.p; ++p) {
        pack_errors(errors, (n * d_.p + p) * d_.q, c);
        const int top = p * d_.stride_h - d_.pad_top;
        const int end = std::min(d_.h, top + s_.rows);
        for (ready = std::max(ready, top); ready < end; ++ready) {
          pack_image(image + (ready % s_.rows) * s_.image_words, (n * d_.h + ready) * d_.w, c);
        }
        for (int64_t q = 0; q < d_.q; q += kErrorPixels) {
          const int64_t q_end = std::min<int64_t>(d_.q, q + kErrorPixels);
          if (pixels + q_end - q > kErrorPixels) {
            spill(sums, whole, count);
            pixels = 0;
          }
          pixels += q_end - q;
          for (int r = 0; r < d_.r; ++r) {
            const int h = top + r * d_.dilation_h;
            if (h < 0 || h >= d_.h) continue;
            add_row(sums + r * d_.s * 2 * lanes(), errors, image + (h % s_.rows) * s_.image_words,
                    q, q_end);
          }
        }
      }
    }
    spill(sums, whole, count);
    for (int tap = 0; tap < taps; ++tap) {
      for (int i = 0; i < 2 * lanes() && c + i < d_.c; ++i) {
        int64_t sum = 0;
        std::memcpy(&sum, whole + 2 * (tap * 2 * lanes() + i), sizeof(sum));
        dw[int64_t{c + i} * taps + tap] = static_cast<float>(sum) * units[c + i];
      }
    }
  }

 private:
  static void spill(int32_t* sums, int32_t* whole, int n) {
    for (int i = 0; i < n; ++i) {
      int64_t sum = 0;
      std::memcpy(&sum, whole + 2 * i, sizeof(sum));
      sum += sums[i];
      std::memcpy(whole + 2 * i, &sum, sizeof(sum));
      sums[i] = 0;
    }
  }

  HWY_INLINE void pack_errors(int32_t* to, int64_t pixel, int c) const {
    const I32 d;
    const int64_t total = int64_t{d_.n} * d_.p * d_.q * d_.c;
    for (int v = 0; v < 2; ++v) {
      const int n = std::min(lanes(), d_.c - c - v * lanes());
      const auto number = [&](int q) HWY_ATTR {
        if (q >= d_.q || n <= 0) return hn::Zero(d);
        return load_errors(error_, (pixel + q) * d_.c + c + v * lanes(), n, total);
      };
      for (int q = 0; q < d_.q; q += 2) {
        hn::Store(joined_words(number(q), number(q + 1)), d, to + (q + v) * lanes());
      }
    }
  }

  // The word at i is of the columns i - pad_left and that and stride_w.
  HWY_INLINE void pack_image(int32_t* to, int64_t pixel, int c) const {
    const I32 d;
    const VecI less = hn::Set(d, zero_);
    const auto columns = static_cast<int>(s_.image_words / kErrorChannels);
    for (int v = 0; v < 2; ++v) {
      const int n = std::min(lanes(), d_.c - c - v * lanes());
      const auto number = [&](int column) HWY_ATTR {
        if (column < 0 || column >= d_.w || n <= 0) return hn::Zero(d);
        return hn::Sub(load_numbers(x_ + (pixel + column) * d_.c + c + v * lanes(), n), less);
      };
      for (int i = 0; i < columns; ++i) {
        const int column = i - d_.pad_left;
        hn::Store(joined_words(number(column), number(column + d_.stride_w)), d,
                  to + (i * 2 + v) * lanes());
      }
    }
  }

  // Adds the columns [q, end) of a row of e to a row of the window, some taps at a time. q: even.
  HWY_INLINE void add_row(int32_t* sums, const int32_t* errors, const int32_t* image, int64_t q,
                          int64_t end) const {
    int s = 0;
    for (; s + 4 <= d_.s; s += 4) add_taps<4>(sums, errors, image, s, q, end);
    for (; s + 2 <= d_.s; s += 2) add_taps<2>(sums, errors, image, s, q, end);
    for (; s < d_.s; ++s) add_taps<1>(sums, errors, image, s, q, end);
  }

  template <int kTaps>
  HWY_INLINE void add_taps(int32_t* sums, const int32_t* errors, const int32_t* image, int s,
                           int64_t q, int64_t end) const {
    const I32 d;
    const int block = 2 * lanes();
    VecI all[kTaps][2];
    THIMBLE_UNROLL
    for (int t = 0; t < kTaps; ++t) {
      all[t][0] = hn::Load(d, sums + (s + t) * block);
      all[t][1] = hn::Load(d, sums + (s + t) * block + lanes());
    }
    for (; q < end; q += 2) {
      const VecI e0 = hn::Load(d, errors + q * lanes());
      const VecI e1 = hn::Load(d, errors + (q + 1) * lanes());
      THIMBLE_UNROLL
      for (int t = 0; t < kTaps; ++t) {
        const int32_t* const x = image + (q * d_.stride_w + int64_t{s + t} * d_.dilation_w) * block;
        all[t][0] = Words::dot(all[t][0], e0, hn::Load(d, x));
        all[t][1] = Words::dot(all[t][1], e1, hn::Load(d, x + lanes()));
      }
    }
    THIMBLE_UNROLL
    for (int t = 0; t < kTaps; ++t) {
      hn::Store(all[t][0], d, sums + (s + t) * block);
      hn::Store(all[t][1], d, sums + (s + t) * block + lanes());
    }
  }

  const conv_dims& d_;
  const ErrorWeightsScratch& s_;
  const int8_t* x_;
  int32_t zero_;
  const Int8Error& error_;
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
