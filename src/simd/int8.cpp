// int8 convolutions as products of packed matrices. The weights are packed once a call: words of 4
// bytes that hold the weights of neighbouring taps, a vector of output channels side by side. A
// task copies the windows of some pixels into rows of words and runs register tiles over them, so
// that an instruction multiplies and adds the taps of a word in every lane. With VNNI a word is 4
// bytes without sign, x + 128, and the sums are corrected by the sums of the weights. Else it is 2
// numbers of 16 bits, x less its zero point. Depthwise convolutions make such words of neighbouring
// rows (int8_depthwise-inl.h).

#include "simd/int8.h"

#include <algorithm>

#include "simd/int8_scratch.h"
#include "simd/workspace.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "simd/int8.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "simd/int8-inl.h"
#include "simd/int8_depthwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// One group of a convolution.
template <class Words>
class Group {
 public:
  Group(const conv_dims& d, const Int8Scratch& s, int number)
      : d_(d), s_(s), runs_(int8_runs(d)), channels_(d.k / d.groups), number_(number) {
    run_words_ = (runs_.length + Words::kUnit - 1) / Words::kUnit;
    words_ = runs_.runs * run_words_;
  }
  [[nodiscard]] int first_channel() const { return number_ * channels_; }

  // Packs the weights of a vector of channels.
  void pack_weights(const int8_t* w, int vector, int zero) const {
    const int64_t taps = int64_t{runs_.runs} * runs_.length;
    const int first = vector * lanes();
    const int count = std::min(lanes(), channels_ - first);
    const int8_t* const from = w + (first_channel() + first) * taps;
    int32_t* to = s_.weights + int64_t{vector} * words_ * lanes();
    for (int run = 0; run < runs_.runs; ++run) {
      for (int begin = 0; begin < runs_.length; begin += Words::kUnit, to += lanes()) {
        const int8_t* const words = from + int64_t{run} * runs_.length + begin;
        const int rest = runs_.length - begin;
        for (int lane = 0; lane < count; ++lane) {
          int8_t padded[Words::kUnit] = {};
          if (rest < Words::kUnit)
            std::memcpy(padded, words + lane * taps, static_cast<size_t>(rest));
          to[lane] = Words::word(rest < Words::kUnit ? padded : words + lane * taps);
        }
        for (int lane = count; lane < lanes(); ++lane) to[lane] = 0;
      }
    }
    hn::Store(Words::start(s_.weights + int64_t{vector} * words_ * lanes(), words_, lanes(), zero),
              I32(), s_.start + first);
  }

  // Copies the window of a pixel into a row of words.
  HWY_INLINE void pack_pixel(int32_t* row, const int8_t* x, int64_t pixel, int zero) const {
    const int q = static_cast<int>(pixel % d_.q);
    const int p = static_cast<int>(pixel / d_.q % d_.p);
    const int8_t* const image = x + pixel / d_.q / d_.p * d_.h * d_.w * d_.c;
    const int left = q * d_.stride_w - d_.pad_left;
    for (int run = 0; run < runs_.runs; ++run) {
      auto* const to = reinterpret_cast<typename Words::Element*>(row + int64_t{run} * run_words_);
      const int r = runs_.of_rows ? run : run / d_.s;
      const int h = p * d_.stride_h - d_.pad_top + r * d_.dilation_h;
      int begin = 0;  // of the part of the run that lies in the image
      int end = 0;
      const int8_t* from = image;
      if (h >= 0 && h < d_.h) {
        const int8_t* const line = image + int64_t{h} * d_.w * d_.c;
        if (runs_.of_rows) {
          begin = std::clamp(-left, 0, d_.s) * d_.c;
          end = std::max(begin, std::clamp(d_.w - left, 0, d_.s) * d_.c);
          from = line + (int64_t{left} * d_.c + begin);
        } else {
          const int column = left + run % d_.s * d_.dilation_w;
          if (column >= 0 && column < d_.w) {
            end = runs_.length;
            from = line + int64_t{column} * d_.c + number_ * runs_.length;
          }
        }
      }
      const int all = run_words_ * Words::kUnit;
      const auto outside = Words::padding(zero);
      for (int i = 0; i < begin; ++i) to[i] = outside;
      if (begin < end) Words::copy(to + begin, from, end - begin, zero);
      for (int i = end; i < all; ++i) to[i] = outside;
    }
  }

  // Results of `count` pixels whose windows are packed; y: of the first.
  void multiply(int8_t* y, const int32_t* rows, int count, const Finish& finish) const {
    const int vectors = (channels_ + lanes() - 1) / lanes();
    for (int v = 0; v < vectors;) {
      const int step = std::min(vectors - v, kMaxVectors);
      if (step == 1) columns<1>(y, rows, count, v, finish);
      if (step == 2) columns<2>(y, rows, count, v, finish);
      if constexpr (kMaxVectors > 2) {
        if (step == 3) columns<3>(y, rows, count, v, finish);
        if (step == 4) columns<4>(y, rows, count, v, finish);
      }
      v += step;
    }
  }

  [[nodiscard]] int words() const { return words_; }
  [[nodiscard]] int64_t taps() const { return int64_t{runs_.runs} * runs_.length; }
  // Whether the windows of neighbouring pixels are neighbours in memory, too.
  [[nodiscard]] bool is_dense() const {
    return d_.groups == 1 && d_.r == 1 && d_.s == 1 && d_.stride_h == 1 && d_.stride_w == 1 &&
           d_.pad_top == 0 && d_.pad_left == 0 && d_.p == d_.h && d_.q == d_.w &&
           runs_.length % Words::kUnit == 0;
  }
  HWY_INLINE void pack_dense(int32_t* rows, const int8_t* x, int64_t first, int count,
                             int zero) const {
    Words::copy(reinterpret_cast<typename Words::Element*>(rows), x + first * runs_.length,
                count * runs_.length, zero);
  }

 private:
  // The channels of kVectors vectors from number `vector` on.
  template <int kVectors>
  HWY_NOINLINE void columns(int8_t* y, const int32_t* rows, int count, int vector,
                            const Finish& shared) const {
    const Finish finish = shared;
    const I32 d;
    constexpr int kRows = tile_rows(kVectors);
    const int64_t pitch = int64_t{words_} * lanes();
    const int32_t* const weights = s_.weights + vector * pitch;
    for (int m = 0; m < count; m += kRows) {
      VecI sums[kRows][kVectors];
      THIMBLE_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const VecI start = hn::Load(d, s_.start + (vector + v) * lanes());
        THIMBLE_UNROLL
        for (int r = 0; r < kRows; ++r) sums[r][v] = start;
      }
      const int32_t* const a = rows + int64_t{m} * words_;
      for (int word = 0; word < words_; ++word) {
        VecI b[kVectors];
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          b[v] = hn::Load(d, weights + v * pitch + int64_t{word} * lanes());
        }
        THIMBLE_UNROLL
        for (int r = 0; r < kRows; ++r) {
          const VecI one = hn::Set(d, a[int64_t{r} * words_ + word]);
          THIMBLE_UNROLL
          for (int v = 0; v < kVectors; ++v) sums[r][v] = Words::dot(sums[r][v], one, b[v]);
        }
      }
      THIMBLE_UNROLL
      for (int r = 0; r < kRows; ++r) {
        if (m + r >= count) break;
        int8_t* const to = y + int64_t{m + r} * d_.k + first_channel();
        THIMBLE_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          const int k = (vector + v) * lanes();
          finish.store(sums[r][v], to + k, k, first_channel() + k,
                       std::min(lanes(), channels_ - k));
        }
      }
    }
  }

  const conv_dims& d_;
  const Int8Scratch& s_;
  Int8Runs runs_;
  int channels_;
  int number_;
  int run_words_;
  int words_;
};

template <class Words>
void convolve(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
              const Int8Scratch& s, const conv_dims& d, const Int8Result& result,
              parallel::ThreadPool& pool) {
  const int zero = result.input_zero_point;
  const int64_t pixels = int64_t{d.n} * d.p * d.q;
  for (int g = 0; g < d.groups; ++g) {
    const Group<Words> group(d, s, g);
    const bool shifts_down =
        prepare_channels(s, bias, result, group.first_channel(), d.k / d.groups);
    const bool folds = can_fold(bias, group.first_channel(), d.k / d.groups, group.taps());
    const Finish finish(result, s, folds, shifts_down);
    pool.run(divide_up(d.k / d.groups, lanes()), [&](int64_t v) {
      group.pack_weights(w, static_cast<int>(v), zero);
      for (int64_t k = v * lanes(); folds && k < (v + 1) * lanes(); ++k) s.start[k] += s.bias[k];
    });
    pool.run_with_worker(divide_up(pixels, kInt8Pixels), [&](int64_t task, int worker) HWY_ATTR {
      const int64_t first = task * kInt8Pixels;
      const int count = static_cast<int>(std::min<int64_t>(kInt8Pixels, pixels - first));
      int32_t* const rows = s.pixels + int64_t{worker} * s.rows * s.words;
      if (group.is_dense()) {
        group.pack_dense(rows, x, first, count, zero);
      } else {
        for (int m = 0; m < count; ++m) {
          group.pack_pixel(rows + int64_t{m} * group.words(), x, first + m, zero);
        }
      }
      // Rows of the last register tile that are no pixels; their sums are not stored.
      for (int m = count; m < s.rows; ++m) {
        std::fill_n(rows + int64_t{m} * group.words(), group.words(), 0);
      }
      group.multiply(y + first * d.k, rows, count, finish);
    });
  }
}

bool int8_has_quads() {
#if THIMBLE_INT8_VNNI
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return has_vnni;
#else
  return false;
#endif
}

void int8_conv_target(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                      const Int8Scratch& s, const conv_dims& d, const Int8Result& result,
                      parallel::ThreadPool& pool, Int8Words words) {
  const auto run = [&](auto kind) HWY_ATTR {
    using Words = decltype(kind);
    if (is_int8_depthwise(d)) {
      convolve_depthwise<Words>(y, x, w, bias, s, d, result, pool);
    } else {
      convolve<Words>(y, x, w, bias, s, d, result, pool);
    }
  };
#if THIMBLE_INT8_VNNI
  if (words != Int8Words::pairs && int8_has_quads()) return run(Quads());
#else
  static_cast<void>(words);
#endif
  run(Pairs());
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::simd {
HWY_EXPORT(int8_conv_target);
HWY_EXPORT(int8_has_quads);

bool int8_has(Int8Words words) {
  return words != Int8Words::quads || HWY_DYNAMIC_DISPATCH(int8_has_quads)();
}

int64_t int8_conv_workspace_bytes(const conv_dims& d, int threads) {
  if (!int8_conv_fits(d)) return 0;
  Workspace counter(nullptr);
  carve_int8_scratch(counter, d, threads);
  return counter.bytes();
}

void int8_conv(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
               const conv_dims& d, const Int8Result& result, parallel::ThreadPool& pool,
               Int8Words words) {
  if (int64_t{d.n} * d.p * d.q * d.k == 0) return;
  Workspace own(workspace);
  const Int8Scratch scratch = carve_int8_scratch(own, d, pool.threads());
  HWY_DYNAMIC_DISPATCH(int8_conv_target)(y, x, w, bias, scratch, d, result, pool, words);
}

}  // namespace thimble::simd
#endif
