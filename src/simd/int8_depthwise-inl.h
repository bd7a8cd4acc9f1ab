// Depthwise convolutions of int8 images. Included once per vector target.

#if defined(THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#undef THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#else
#define THIMBLE_SIMD_INT8_DEPTHWISE_INL_H_
#endif

#include "parallel/thread_pool.h"
#include "simd/int8-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Row p of an image.
class DepthwiseRow {
 public:
  DepthwiseRow(const conv_dims& d, const Int8Scratch& s, const Int8Result& result, int8_t* y,
               const int8_t* image, int p)
      : d_(d),
        s_(s),
        finish_(result, s, false),
        zero_(result.input_zero_point),
        y_(y),
        image_(image) {
    top_ = p * d.stride_h - d.pad_top;
    while (first_r_ < d.r && top_ + first_r_ * d.dilation_h < 0) ++first_r_;
    end_r_ = first_r_;
    while (end_r_ < d.r && top_ + end_r_ * d.dilation_h < d.h) ++end_r_;
  }

  HWY_INLINE void run() const {
    const int extent = (d_.s - 1) * d_.dilation_w + 1;
    for (int c = 0; c < d_.c; c += lanes()) {
      const bool whole = c + lanes() <= d_.c;
      int q = 0;
      while (q < d_.q) {
        const int left = q * d_.stride_w - d_.pad_left;
        const int last = left + (kPixels - 1) * d_.stride_w + extent;
        if (whole && left >= 0 && q + kPixels <= d_.q && last <= d_.w) {
          pixels<kPixels, true>(q, c);
          q += kPixels;
        } else if (whole) {
          pixels<1, true>(q++, c);
        } else {
          pixels<1, false>(q++, c);
        }
      }
    }
  }

 private:
  static constexpr int kPixels = 4;

  template <bool kWhole>
  HWY_INLINE Vec load(const int8_t* from, int count) const {
    const I32 d;
    VecI x;
    if constexpr (kWhole) {
      x = hn::PromoteTo(d, hn::LoadU(I8(), from));
    } else {
      alignas(64) int32_t numbers[kInt8MostLanes] = {};
      for (int i = 0; i < count; ++i) numbers[i] = from[i];
      x = hn::Load(d, numbers);
    }
    return hn::ConvertTo(F32(), hn::Sub(x, hn::Set(d, zero_)));
  }

  // kCount neighbouring pixels of a vector of channels; of more than one the windows lie within the
  // columns of the image.
  template <int kCount, bool kWhole>
  HWY_INLINE void pixels(int q, int c) const {
    const F32 f;
    const int count = std::min(lanes(), d_.c - c);
    const int64_t padded = round_up(d_.c, kInt8MostLanes);
    const auto* const weights = reinterpret_cast<const float*>(s_.weights) + c;
    const int left = q * d_.stride_w - d_.pad_left;
    Vec sums[kCount];
    THIMBLE_UNROLL
    for (int i = 0; i < kCount; ++i) sums[i] = hn::Zero(f);
    for (int r = first_r_; r < end_r_; ++r) {
      const int8_t* const line = image_ + (int64_t{top_} + r * d_.dilation_h) * d_.w * d_.c + c;
      for (int s = 0; s < d_.s; ++s) {
        const int column = left + s * d_.dilation_w;
        if (kCount == 1 && (column < 0 || column >= d_.w)) continue;
        const Vec weight = hn::Load(f, weights + (int64_t{r} * d_.s + s) * padded);
        THIMBLE_UNROLL
        for (int i = 0; i < kCount; ++i) {
          const Vec x = load<kWhole>(line + int64_t{column + i * d_.stride_w} * d_.c, count);
          sums[i] = hn::MulAdd(x, weight, sums[i]);
        }
      }
    }
    THIMBLE_UNROLL
    for (int i = 0; i < kCount; ++i) {
      finish_.store(hn::ConvertTo(I32(), sums[i]), y_ + int64_t{q + i} * d_.k + c, c, c, count);
    }
  }

  const conv_dims& d_;
  const Int8Scratch& s_;
  Finish finish_;
  int zero_;
  int8_t* y_;
  const int8_t* image_;
  int top_ = 0;  // the window's first row, which may lie outside
  int first_r_ = 0;
  int end_r_ = 0;
};

void convolve_depthwise(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias,
                        const Int8Scratch& s, const conv_dims& d, const Int8Result& result,
                        parallel::ThreadPool& pool) {
  const int taps = d.r * d.s;
  const int64_t padded = round_up(d.c, kInt8MostLanes);
  auto* const weights = reinterpret_cast<float*>(s.weights);
  for (int tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < padded; ++c) {
      weights[tap * padded + c] = c < d.c ? static_cast<float>(w[c * taps + tap]) : 0.0F;
    }
  }
  prepare_channels(s, bias, result, 0, d.k);
  pool.run(int64_t{d.n} * d.p, [&](int64_t row) HWY_ATTR {
    const int8_t* const image = x + row / d.p * d.h * d.w * d.c;
    const DepthwiseRow line(d, s, result, y + row * d.q * d.k, image, static_cast<int>(row % d.p));
    line.run();
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
