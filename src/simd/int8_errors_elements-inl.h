// Errors of int8 by element: what stores them, scales them and sums them up. Included once per
// vector target.

#if defined(THIMBLE_SIMD_INT8_ERRORS_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_INT8_ERRORS_ELEMENTS_INL_H_
#undef THIMBLE_SIMD_INT8_ERRORS_ELEMENTS_INL_H_
#else
#define THIMBLE_SIMD_INT8_ERRORS_ELEMENTS_INL_H_
#endif

#include "simd/int8_errors_scratch.h"
#include "simd/int8_errors_words-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Elements [begin, end) of x.
HWY_INLINE int32_t take_floats(const float* x, int64_t begin, int64_t end, const ErrorResult& to) {
  LargestSizes most;
  for (int64_t i = begin; i < end; i += lanes()) {
    const auto n = static_cast<int>(std::min<int64_t>(lanes(), end - i));
    const Vec v = n < lanes() ? load_first(x + i, n) : hn::LoadU(F32(), x + i);
    take_gradients(to, v, i, n, most);
  }
  return most.bits();
}

// Errors [begin, end), times the units of their channels; whole rows of them where there are more
// than one.
HWY_INLINE int32_t take_scaled(const Int8Error& error, const float* units, int channels,
                               int64_t begin, int64_t end, int64_t total, const ErrorResult& to) {
  const F32 f;
  LargestSizes most;
  for (int64_t row = begin; row < end;) {
    const int64_t row_end = channels == 1 ? end : row + channels;
    for (int64_t i = row; i < row_end; i += lanes()) {
      const auto n = static_cast<int>(std::min<int64_t>(lanes(), row_end - i));
      const Vec unit = channels == 1 ? hn::Set(f, units[0]) : hn::LoadU(f, units + (i - row));
      const Vec v = hn::ConvertTo(f, load_errors(error, i, n, total));
      take_gradients(to, hn::Mul(v, unit), i, n, most);
    }
    row = row_end;
  }
  return most.bits();
}

// sums[c] = units[c] sum over the rows of e, of a vector of channels.
HWY_INLINE void sum_errors(float* sums, const Int8Error& error, const float* units, int64_t rows,
                           int channels, int c) {
  const I32 d;
  const int n = std::min(lanes(), channels - c);
  HWY_ALIGN int64_t whole[kErrorChannels] = {};
  HWY_ALIGN int32_t part[kErrorChannels];
  for (int64_t begin = 0; begin < rows; begin += kErrorPixels) {
    const int64_t end = std::min(rows, begin + kErrorPixels);
    VecI sum = hn::Zero(d);
    for (int64_t row = begin; row < end; ++row) {
      sum = hn::Add(sum, load_errors(error, row * channels + c, n, rows * channels));
    }
    hn::Store(sum, d, part);
    for (int i = 0; i < n; ++i) whole[i] += part[i];
  }
  for (int i = 0; i < n; ++i) sums[c + i] = static_cast<float>(whole[i]) * units[c + i];
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
