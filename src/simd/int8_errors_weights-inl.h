// Gradients of int8 convolutions in their weights from errors of int8, of all but depthwise ones:
// words are of two pixels. Errors are packed once; a task packs the numbers of windows that it
// reads of the image, which lie side by side. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_ERRORS_WEIGHTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ERRORS_WEIGHTS_INL_H_
#undef THIMBLE_SIMD_INT8_ERRORS_WEIGHTS_INL_H_
#else
#define THIMBLE_SIMD_INT8_ERRORS_WEIGHTS_INL_H_
#endif

#include "simd/int8_errors_scratch.h"
#include "simd/int8_errors_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_MANY_REGISTERS
inline constexpr int kErrorWeightTile = 8;  // output channels of a tile
#else
inline constexpr int kErrorWeightTile = 4;
#endif

template <class Words>
class ErrorWeights {
 public:
  ErrorWeights(const conv_dims& d, const ErrorWeightsScratch& s, const int8_t* x, int32_t zero)
      : d_(d),
        s_(s),
        x_(x),
        zero_(zero),
        group_c_(d.c / d.groups),
        group_k_(d.k / d.groups),
        width_(d.r * d.s * group_c_),
        pixels_(int64_t{d.n} * d.p * d.q),
        row_(round_up(pixels_, 2)) {}

  void pack(const Int8Error& error, parallel::ThreadPool& pool) const {
    constexpr int64_t kPixels = 64;
    pool.run(divide_up(pixels_, kPixels), [&](int64_t task) HWY_ATTR {
      const int64_t end = std::min(pixels_, (task + 1) * kPixels);
      const I32 d;
      HWY_ALIGN int32_t numbers[kErrorChannels];
      for (int64_t pixel = task * kPixels; pixel < end; ++pixel) {
        for (int k = 0; k < d_.k; k += lanes()) {
          const int n = std::min(lanes(), d_.k - k);
          hn::Store(load_errors(error, pixel * d_.k + k, n, pixels_ * d_.k), d, numbers);
          int8_t* const to = s_.errors + k * row_ + pixel;
          for (int i = 0; i < n; ++i) to[i * row_] = static_cast<int8_t>(numbers[i]);
        }
      }
      if (end != pixels_ || pixels_ == row_) return;
      for (int k = 0; k < d_.k; ++k) s_.errors[k * row_ + pixels_] = 0;
    });
  }

  // Copies the image with what windows reach beyond it, as the zero point.
  void pad(parallel::ThreadPool& pool) const {
    if (!s_.has_edge) return;
    pool.run(int64_t{d_.n} * s_.padded_h, [&](int64_t line) {
      const auto h = static_cast<int>(line % s_.padded_h) - d_.pad_top;
      int8_t* const to = s_.padded + line * s_.padded_w * d_.c;
      const int first = std::clamp(d_.pad_left, 0, s_.padded_w);
      const int last = std::clamp(d_.w + d_.pad_left, first, s_.padded_w);
      std::memset(to, zero_, static_cast<size_t>(s_.padded_w) * static_cast<size_t>(d_.c));
      if (h < 0 || h >= d_.h) return;
      const int64_t from = (line / s_.padded_h * d_.h + h) * d_.w + first - d_.pad_left;
      std::memcpy(to + int64_t{first} * d_.c, x_ + from * d_.c,
                  static_cast<size_t>(last - first) * static_cast<size_t>(d_.c));
    });
  }

  [[nodiscard]] int64_t tasks() const {
    return int64_t{d_.groups} * blocks() * divide_up(group_k_, kErrorWeightRows);
  }

  // Of two vectors of the numbers of a window, and some output channels.
  void run(int64_t task, int worker, float* dw, const float* units) const {
    const auto rows = static_cast<int>(divide_up(group_k_, kErrorWeightRows));
    const auto block = static_cast<int>(task / rows % blocks()) * 2 * lanes();
    const auto g = static_cast<int>(task / rows / blocks());
    const auto first = static_cast<int>(task % rows) * kErrorWeightRows;
    const int count = std::min(kErrorWeightRows, group_k_ - first);
    const int k = g * group_k_ + first;
    const Runs runs = runs_of(g, block);
    constexpr int kSums = kErrorWeightRows * kErrorChannels;
    HWY_ALIGN int32_t sums[kSums] = {};
    HWY_ALIGN int64_t whole[kSums] = {};
    const bool is_long = pixels_ > kErrorPixels;
    int32_t* const image = s_.image + int64_t{worker} * kErrorWeightPixels / 2 * kErrorChannels;
    for (int64_t pixel = 0; pixel < pixels_; pixel += kErrorWeightPixels) {
      if (is_long && pixel % kErrorPixels == 0) spill(sums, whole, kSums);
      const auto n = static_cast<int>(std::min<int64_t>(kErrorWeightPixels, pixels_ - pixel));
      pack_image(image, runs, pixel, n, std::min(2 * lanes(), width_ - block));
      for (int i = 0; i < count; i += kErrorWeightTile) {
        add_products(sums + i * 2 * lanes(), image, k + i, std::min(kErrorWeightTile, count - i),
                     pixel, (n + 1) / 2);
      }
    }
    if (is_long) spill(sums, whole, kSums);
    const int n = std::min(2 * lanes(), width_ - block);
    for (int i = 0; i < count; ++i) {
      float* const to = dw + int64_t{k + i} * width_ + block;
      const int32_t* const from = sums + i * 2 * lanes();
      const int64_t* const all = whole + i * 2 * lanes();
      const float unit = units[k + i];
      for (int c = 0; c < n; ++c) {
        to[c] = (is_long ? static_cast<float>(all[c]) : static_cast<float>(from[c])) * unit;
      }
    }
  }

 private:
  // Numbers of a window that lie side by side in the image, of a block of them.
  struct Runs {
    int count;
    int64_t from[kErrorChannels];  // from the window's first number
    int to[kErrorChannels];
    int size[kErrorChannels];
  };

  [[nodiscard]] int64_t blocks() const { return divide_up(width_, 2 * lanes()); }

  [[nodiscard]] Runs runs_of(int g, int block) const {
    const bool has_rows = d_.groups == 1 && d_.dilation_w == 1;
    const int size = has_rows ? d_.s * d_.c : group_c_;
    const int end = std::min(block + 2 * lanes(), width_);
    Runs made{};
    for (int at = block; at < end; ++made.count) {
      const int run = at / size;
      const int tap = has_rows ? run * d_.s : run;
      const int64_t line = int64_t{tap / d_.s} * d_.dilation_h * s_.padded_w;
      const int rest = std::min(size - at % size, end - at);
      made.from[made.count] =
          (line + int64_t{tap % d_.s} * d_.dilation_w) * d_.c + g * group_c_ + at % size;
      made.to[made.count] = at - block;
      made.size[made.count] = rest;
      at += rest;
    }
    return made;
  }

  static void spill(int32_t* sums, int64_t* whole, int n) {
    for (int i = 0; i < n; ++i) {
      whole[i] += sums[i];
      sums[i] = 0;
    }
  }

  // n numbers of the windows of `count` pixels.
  HWY_INLINE void pack_image(int32_t* to, const Runs& runs, int64_t pixel, int count, int n) const {
    const I32 d;
    const I8 d8;
    const VecI less = hn::Set(d, zero_);
    int64_t line = pixel / d_.q;
    auto q = static_cast<int>(pixel % d_.q);
    constexpr int kSlack = 64;
    HWY_ALIGN int8_t numbers[2][kErrorChannels + kSlack] = {};
    for (int i = 0; i < count; ++i) {
      load_window(numbers[i % 2], runs, line, q, n);
      if (++q == d_.q) {
        q = 0;
        ++line;
      }
      if (i % 2 == 0 && i + 1 < count) continue;
      int32_t* const words = to + int64_t{i / 2} * 2 * lanes();
      for (int v = 0; v < 2; ++v) {
        const VecI a = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, numbers[0] + v * lanes())), less);
        const VecI b = hn::Sub(hn::PromoteTo(d, hn::LoadU(d8, numbers[1] + v * lanes())), less);
        hn::Store(joined_words(a, i % 2 == 0 ? hn::Zero(d) : b), d, words + v * lanes());
      }
    }
  }

  // What lies beyond n numbers is not used.
  HWY_INLINE void load_window(int8_t* to, const Runs& runs, int64_t line, int q, int n) const {
    if (!s_.has_edge) {  // one run
      const int8_t* const from = x_ + (line * d_.w + q) * d_.c + runs.from[0];
      const I8 d8;
      hn::StoreU(n < lanes() ? load_some(d8, from, n) : hn::LoadU(d8, from), d8, to);
      if (n <= lanes()) return;
      const int left = n - lanes();
      hn::StoreU(
          left < lanes() ? load_some(d8, from + lanes(), left) : hn::LoadU(d8, from + lanes()), d8,
          to + lanes());
      return;
    }
    const int64_t row = line / d_.p * s_.padded_h + line % d_.p * d_.stride_h;
    const int8_t* const from = s_.padded + (row * s_.padded_w + int64_t{q} * d_.stride_w) * d_.c;
    for (int i = 0; i < runs.count; ++i) {
      // Whatever follows a short run is copied over by the next one.
      if (runs.size[i] <= 8) {
        std::memcpy(to + runs.to[i], from + runs.from[i], 8);
      } else {
        std::memcpy(to + runs.to[i], from + runs.from[i], kErrorChannels);
      }
    }
  }

  HWY_INLINE void add_products(int32_t* sums, const int32_t* image, int k, int rows, int64_t pixel,
                               int count) const {
    const I32 d;
    VecI all[kErrorWeightTile][2];
    HWY_ALIGN int16_t errors[kErrorWeightTile][kErrorWeightPixels];
    const hn::ScalableTag<int16_t> d16;
    const hn::Rebind<int8_t, decltype(d16)> d8;
    const auto step = static_cast<int>(hn::Lanes(d16));
    for (int i = 0; i < kErrorWeightTile; ++i) {
      const int8_t* const from = s_.errors + (k + std::min(i, rows - 1)) * row_ + pixel;
      for (int p = 0; p < 2 * count; p += step) {
        hn::Store(hn::PromoteTo(d16, hn::LoadU(d8, from + p)), d16, errors[i] + p);
      }
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kErrorWeightTile; ++i) {
      all[i][0] = hn::Zero(d);
      all[i][1] = hn::Zero(d);
    }
    for (int p = 0; p < count; ++p, image += 2 * lanes()) {
      const VecI a = hn::Load(d, image);
      const VecI b = hn::Load(d, image + lanes());
      THIMBLE_UNROLL
      for (int i = 0; i < kErrorWeightTile; ++i) {
        const VecI word = pair_of(errors[i], p);
        all[i][0] = Words::dot(all[i][0], word, a);
        all[i][1] = Words::dot(all[i][1], word, b);
      }
    }
    for (int i = 0; i < rows; ++i) {
      int32_t* const to = sums + i * 2 * lanes();
      hn::Store(hn::Add(hn::Load(d, to), all[i][0]), d, to);
      hn::Store(hn::Add(hn::Load(d, to + lanes()), all[i][1]), d, to + lanes());
    }
  }

  const conv_dims& d_;
  const ErrorWeightsScratch& s_;
  const int8_t* x_;
  int32_t zero_;
  int group_c_, group_k_;
  int width_;  // numbers of a window
  int64_t pixels_;
  int64_t row_;  // from the errors of a channel to the next
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
