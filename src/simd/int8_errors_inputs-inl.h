// Gradients of int8 convolutions in their input from errors of int8, of all but depthwise ones.
// Errors times factors are packed once, as words of two channels, and the weights likewise: an
// instruction adds the products of two channels in every lane, of channels of dx side by side.
// Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_ERRORS_INPUTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ERRORS_INPUTS_INL_H_
#undef THIMBLE_SIMD_INT8_ERRORS_INPUTS_INL_H_
#else
#define THIMBLE_SIMD_INT8_ERRORS_INPUTS_INL_H_
#endif

#include "simd/int8_errors_scratch.h"
#include "simd/int8_errors_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

#if THIMBLE_MANY_REGISTERS
inline constexpr int kErrorRows = 8;  // pixels of a tile
#else
inline constexpr int kErrorRows = 4;
#endif

template <class Words>
class ErrorInputs {
 public:
  ErrorInputs(const conv_dims& d, const ErrorInputsScratch& s, float unit)
      : d_(d),
        s_(s),
        unit_(unit),
        group_c_(d.c / d.groups),
        group_k_(d.k / d.groups),
        pairs_((group_k_ + 1) / 2),
        padded_c_(round_up(group_c_, kErrorChannels)),
        pixels_(int64_t{d.n} * d.p * d.q) {}

  void pack(const Int8Error& error, const int16_t* multipliers, const int8_t* w,
            parallel::ThreadPool& pool) const {
    for (int k = 0; k < d_.k; ++k) s_.multipliers[k] = static_cast<uint16_t>(multipliers[k]);
    for (int64_t k = d_.k; k < error_multipliers(d_); ++k) s_.multipliers[k] = 0;
    const int64_t step = std::max<int64_t>(1, 4096 / std::max(d_.k, 1));
    pool.run(divide_up(pixels_, step), [&](int64_t task) HWY_ATTR {
      const int64_t end = std::min(pixels_, (task + 1) * step);
      for (int64_t pixel = task * step; pixel < end; ++pixel) pack_errors(error, pixel);
    });
    for (int g = 0; g < d_.groups; ++g) {
      std::memset(errors_of(g, pixels_), 0, 2 * sizeof(int16_t) * static_cast<size_t>(pairs_));
    }
    const int taps = d_.r * d_.s;
    pool.run(int64_t{d_.groups} * pairs_, [&](int64_t task) HWY_ATTR {
      for (int tap = 0; tap < taps; ++tap) pack_weights(w, static_cast<int>(task), tap);
    });
  }

  // So many pixels of dx or a row, of a group. Returns the largest size.
  int32_t run(int64_t task, const ErrorResult& to) const {
    LargestSizes most;
    const auto g = static_cast<int>(task % d_.groups);
    const int64_t number = task / d_.groups;
    if (is_error_pixel(d_)) {
      const int64_t first = number * kErrorInputPixels;
      const int64_t count = std::min<int64_t>(kErrorInputPixels, pixels_ - first);
      run_row({first, 1, static_cast<int>(count), 0, 0, 0}, g, to, most);
      return most.bits();
    }
    const auto h = static_cast<int>(number % d_.h);
    for (int phase = 0; phase < d_.stride_w && phase < d_.w; ++phase) {
      const int count = (d_.w - phase + d_.stride_w - 1) / d_.stride_w;
      run_row({number * d_.w + phase, d_.stride_w, count, number / d_.h, h, phase}, g, to, most);
    }
    return most.bits();
  }

  [[nodiscard]] int64_t tasks() const {
    const int64_t rows =
        is_error_pixel(d_) ? divide_up(pixels_, kErrorInputPixels) : int64_t{d_.n} * d_.h;
    return rows * d_.groups;
  }

 private:
  // Pixels of dx that the same taps of a window read.
  struct Row {
    int64_t first;
    int step;
    int count;
    int64_t image;
    int h;
    int column;  // of the first
  };

  [[nodiscard]] int16_t* errors_of(int g, int64_t pixel) const {
    return s_.errors + (g * (pixels_ + 1) + pixel) * 2 * pairs_;
  }
  [[nodiscard]] int32_t* weights_of(int g, int tap, int pair) const {
    return s_.weights + ((int64_t{g} * d_.r * d_.s + tap) * pairs_ + pair) * padded_c_;
  }

  HWY_INLINE void pack_errors(const Int8Error& error, int64_t pixel) const {
    const I32 d;
    const hn::Rebind<int16_t, I32> d16;
    const VecI half = hn::Set(d, 1 << 6);
    for (int g = 0; g < d_.groups; ++g) {
      int16_t* const to = errors_of(g, pixel);
      for (int k = 0; k < group_k_; k += lanes()) {
        const int n = std::min(lanes(), group_k_ - k);
        const VecI e = load_errors(error, pixel * d_.k + g * group_k_ + k, n, pixels_ * d_.k);
        const VecI factor = hn::LoadU(d, s_.multipliers + g * group_k_ + k);
        const VecI product = Pairs::dot(half, e, factor);
        store_some(hn::DemoteTo(d16, hn::ShiftRight<7>(product)), d16, to + k, n);
      }
      if (group_k_ % 2 != 0) to[group_k_] = 0;
    }
  }

  // Of all groups; task: of a group and a pair of output channels.
  HWY_INLINE void pack_weights(const int8_t* w, int task, int tap) const {
    const I32 d;
    const int g = task / pairs_;
    const int pair = task % pairs_;
    const int k = g * group_k_ + 2 * pair;
    const int64_t taps = int64_t{d_.r} * d_.s;
    const int8_t* const low = w + (k * taps + tap) * group_c_;
    const int8_t* const high = 2 * pair + 1 < group_k_ ? low + taps * group_c_ : nullptr;
    int32_t* const to = weights_of(g, tap, pair);
    for (int c = 0; c < padded_c_; c += lanes()) {
      VecI word = hn::Zero(d);
      if (c < group_c_) {
        const int n = std::min(lanes(), group_c_ - c);
        const VecI second = high == nullptr ? hn::Zero(d) : load_numbers(high + c, n);
        word = joined_words(load_numbers(low + c, n), second);
      }
      hn::Store(word, d, to + c);
    }
  }

  void run_row(const Row& row, int g, const ErrorResult& to, LargestSizes& most) const {
    const int block = 2 * lanes();
    for (int c = 0; c < group_c_; c += block) {
      if (group_c_ - c > lanes()) {
        run_block<2>(row, g, c, to, most);
      } else {
        run_block<1>(row, g, c, to, most);
      }
    }
  }

  template <int kVectors>
  void run_block(const Row& row, int g, int c, const ErrorResult& to, LargestSizes& most) const {
    const F32 f;
    const I32 d;
    constexpr int kWords = kErrorRows * kErrorChannels;
    HWY_ALIGN int32_t sums[kWords];
    HWY_ALIGN float result[kWords];
    const Vec unit = hn::Set(f, unit_);
    for (int j = 0; j < row.count; j += kErrorRows) {
      const int rows = std::min(kErrorRows, row.count - j);
      const bool is_long = int64_t{d_.r} * d_.s * group_k_ > kErrorProducts;
      if (is_long) {
        long_sums<kVectors>(row, g, c, j, sums, result);
      } else {
        std::memset(sums, 0, sizeof(sums));
        add_taps<kVectors>(row, g, c, j, sums, [](int /*products*/) {});
      }
      for (int i = 0; i < rows; ++i) {
        const int64_t at = (row.first + int64_t{j + i} * row.step) * d_.c + g * group_c_ + c;
        for (int v = 0; v < kVectors; ++v) {
          const int n = std::min(lanes(), group_c_ - c - v * lanes());
          const int from = (i * kVectors + v) * lanes();
          const Vec sum =
              is_long ? hn::Load(f, result + from) : hn::ConvertTo(f, hn::Load(d, sums + from));
          take_gradients(to, hn::Mul(sum, unit), at + v * lanes(), n, most);
        }
      }
    }
  }

  // Sums of more products than int32 holds, as float.
  template <int kVectors>
  void long_sums(const Row& row, int g, int c, int j, int32_t* HWY_RESTRICT sums,
                 float* HWY_RESTRICT result) const {
    constexpr int kWords = kErrorRows * kErrorChannels;
    const int words = kErrorRows * kVectors * lanes();
    HWY_ALIGN int64_t whole[kWords] = {};
    int products = 0;
    std::memset(sums, 0, sizeof(int32_t) * kWords);
    const auto spill = [&](int next) HWY_ATTR {
      if (products + next > kErrorProducts) {
        for (int i = 0; i < words; ++i) whole[i] += sums[i];
        std::memset(sums, 0, sizeof(int32_t) * kWords);
        products = 0;
      }
      products += next;
    };
    add_taps<kVectors>(row, g, c, j, sums, spill);
    for (int i = 0; i < words; ++i) result[i] = static_cast<float>(whole[i] + sums[i]);
  }

  // before(n): called before n products are added to each sum.
  template <int kVectors, class Before>
  HWY_INLINE void add_taps(const Row& row, int g, int c, int j, int32_t* sums,
                           const Before& before) const {
    const int16_t* errors[kErrorRows];
    for (int r = 0; r < d_.r; ++r) {
      const int from_h = row.h + d_.pad_top - r * d_.dilation_h;
      if (from_h < 0 || from_h % d_.stride_h != 0 || from_h / d_.stride_h >= d_.p) continue;
      const int64_t line = (row.image * d_.p + from_h / d_.stride_h) * d_.q;
      for (int s = 0; s < d_.s; ++s) {
        const int from_w = row.column + d_.pad_left - s * d_.dilation_w;
        if (from_w % d_.stride_w != 0) continue;
        const int q = from_w / d_.stride_w + j;
        if (!is_error_pixel(d_) && (q + kErrorRows <= 0 || q >= d_.q)) continue;
        for (int i = 0; i < kErrorRows; ++i) {
          const bool inside = is_error_pixel(d_) ? j + i < row.count
                                                 : q + i >= 0 && q + i < d_.q && j + i < row.count;
          const int64_t pixel = is_error_pixel(d_) ? row.first + j + i : line + q + i;
          errors[i] = errors_of(g, inside ? pixel : pixels_);
        }
        for (int pair = 0; pair < pairs_; pair += kErrorProducts / 2) {
          const int end = std::min(pairs_, pair + kErrorProducts / 2);
          before(2 * (end - pair));
          add_products<kVectors>(errors, weights_of(g, r * d_.s + s, 0) + c, pair, end, sums);
        }
      }
    }
  }

  template <int kVectors>
  HWY_INLINE void add_products(const int16_t* const* errors, const int32_t* weights, int pair,
                               int end, int32_t* HWY_RESTRICT sums) const {
    const I32 d;
    VecI all[kErrorRows][kVectors];
    THIMBLE_UNROLL
    for (int i = 0; i < kErrorRows; ++i) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        all[i][v] = hn::Load(d, sums + (i * kVectors + v) * lanes());
      }
    }
    const int32_t* from = weights + pair * padded_c_;
    for (; pair < end; ++pair, from += padded_c_) {
      VecI w[kVectors];
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) w[v] = hn::Load(d, from + v * lanes());
      THIMBLE_UNROLL
      for (int i = 0; i < kErrorRows; ++i) {
        const VecI word = pair_of(errors[i], pair);
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) all[i][v] = Words::dot(all[i][v], word, w[v]);
      }
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kErrorRows; ++i) {
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        hn::Store(all[i][v], d, sums + (i * kVectors + v) * lanes());
      }
    }
  }

  const conv_dims& d_;
  const ErrorInputsScratch& s_;
  float unit_;
  int group_c_, group_k_;
  int pairs_;
  int64_t padded_c_;
  int64_t pixels_;  // of e
};

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
