#include "ops/families/quantized/sum_fast.h"

#include <hwy/highway.h>

#include <cmath>

#include "simd/fixed_point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// quantized_sum_unbounded, within the bounds, of numbers that lie side by side.
class SumOfVectors {
 public:
  using I32 = hn::ScalableTag<int32_t>;
  using F32 = hn::ScalableTag<float>;
  using I8 = hn::Rebind<int8_t, I32>;
  using VecI = hn::Vec<I32>;

  SumOfVectors(const quantized_sum_dims& d, int32_t sign)
      : d_(d),
        sign_(sign)
#if HWY_TARGET != HWY_SCALAR
        ,
        a_(d.a_factor),
        b_(d.b_factor),
        y_(d.y_factor),
        a_is_half_(is_half(d.a_factor)),
        b_is_half_(is_half(d.b_factor))
#endif
  {
    if (d.out.fixed_point == 0) return;
    const double unit = real(d.y_factor);
    const double a = 0x1p20 * unit * real(d.a_factor);
    const double b = 0x1p20 * unit * real(d.b_factor) * sign;
    a_step_ = static_cast<float>(a);
    b_step_ = static_cast<float>(b);
    const double start = d.out.zero_point - a * d.a_zero_point - b * d.b_zero_point;
    start_ = static_cast<float>(start);
    // Of fixed point: each operand within a unit, then half a unit of the first rounding. Of float:
    // what the constants lost, and a rounding of the first sum and of the second one, which is
    // below 256 where the bounds do not decide.
    const double error = 2 * unit + std::ldexp(0.5, d.y_factor.shift) +  //
                         128 * std::abs(a - a_step_) + 128 * std::abs(b - b_step_) +
                         std::abs(start - start_) +
                         0x1p-24 * (128 * std::abs(a) + std::abs(start)) + 0x1p-17;
    constexpr double kMostError = 0x1p-10;  // few sums lie so near to a boundary
    in_float_ = error < kMostError;
    sure_rest_ = static_cast<float>(0.5 - error);
  }

  static size_t lanes() { return hn::Lanes(I32()); }

  HWY_INLINE void add(int8_t* y, const int8_t* a, const int8_t* b) const {
    const I32 d;
    const VecI left = hn::Sub(hn::PromoteTo(d, hn::LoadU(I8(), a)), hn::Set(d, d_.a_zero_point));
    const VecI right = hn::Sub(hn::PromoteTo(d, hn::LoadU(I8(), b)), hn::Set(d, d_.b_zero_point));
    const VecI sum = d_.out.fixed_point != 0 ? fixed(left, right) : floating(left, right);
    store(hn::Add(sum, hn::Set(d, d_.out.zero_point)), y);
  }

  // Elements [0, n). Called on a copy: the address of the object is then not known elsewhere.
  HWY_NOINLINE void add_all(int8_t* y, const int8_t* a, const int8_t* b, ptrdiff_t n) const {
    const auto step = static_cast<ptrdiff_t>(lanes());
    for (ptrdiff_t i = 0; i < n; i += step) add(y + i, a + i, b + i);
  }

  // How many elements add_nearly takes, or 0 where it has not the precision.
  [[nodiscard]] ptrdiff_t step() const {
    return in_float_ ? kVectors * static_cast<ptrdiff_t>(lanes()) : 0;
  }

  // In float, for sums in fixed point. False where some may lie on the other side of the boundary
  // between two integers: then nothing is stored.
  HWY_INLINE bool add_nearly(int8_t* y, const int8_t* a, const int8_t* b) const {
#if HWY_TARGET == HWY_SCALAR
    return static_cast<void>(y), static_cast<void>(a), static_cast<void>(b), false;
#elif HWY_TARGET == HWY_AVX3
    constexpr int kLargest = 0b1011;  // of absolute values
    const auto load = [](const int8_t* from) HWY_ATTR {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
      return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
    };
    __m512 most = _mm512_setzero_ps();
    const auto sum = [&](ptrdiff_t i) HWY_ATTR {
      const __m512 left = _mm512_fmadd_ps(load(a + i), _mm512_set1_ps(a_step_),  //
                                          _mm512_set1_ps(start_));
      const __m512 real = _mm512_fmadd_ps(load(b + i), _mm512_set1_ps(b_step_), left);
      most = _mm512_range_ps(most, _mm512_reduce_ps(real, 0), kLargest);
      return _mm512_cvtps_epi32(real);
    };
    const __m512i sums[kVectors] = {sum(0), sum(16), sum(32), sum(48)};
    if (_mm512_cmp_ps_mask(most, _mm512_set1_ps(sure_rest_), _CMP_GT_OQ) != 0) return false;
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(sums[0], sums[1]),
                                             _mm512_packs_epi32(sums[2], sums[3]));
    const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
    const __m512i bounded =
        _mm512_max_epi8(_mm512_min_epi8(bytes, _mm512_set1_epi8(static_cast<char>(d_.out.high))),
                        _mm512_set1_epi8(static_cast<char>(d_.out.low)));
    _mm512_storeu_si512(y, _mm512_permutexvar_epi32(order, bounded));
    return true;
#else
    const F32 f;
    const I32 d;
    // Adding it rounds a number to an integer, which the lowest bits then hold.
    const auto rounder = hn::Set(f, 0x1.8p23F);
    auto most = hn::Zero(f);
    const auto step = static_cast<ptrdiff_t>(lanes());
    const auto sum = [&](ptrdiff_t i) HWY_ATTR {
      const auto left = hn::ConvertTo(f, hn::PromoteTo(d, hn::LoadU(I8(), a + i)));
      const auto right = hn::ConvertTo(f, hn::PromoteTo(d, hn::LoadU(I8(), b + i)));
      const auto real = hn::MulAdd(right, hn::Set(f, b_step_),
                                   hn::MulAdd(left, hn::Set(f, a_step_), hn::Set(f, start_)));
      const auto rounded = hn::Add(real, rounder);
      most = hn::Max(most, hn::Abs(hn::Sub(real, hn::Sub(rounded, rounder))));
      return hn::Sub(hn::BitCast(d, rounded), hn::BitCast(d, rounder));
    };
    const VecI sums[kVectors] = {sum(0), sum(step), sum(2 * step), sum(3 * step)};
    if (!hn::AllFalse(f, hn::Gt(most, hn::Set(f, sure_rest_)))) return false;
    for (ptrdiff_t v = 0; v < kVectors; ++v) store(sums[v], y + v * step);
    return true;
#endif
  }

 private:
  static constexpr ptrdiff_t kVectors = 4;  // at once

  HWY_INLINE void store(VecI sum, int8_t* y) const {
    const I32 d;
    const VecI bounded = hn::Min(hn::Max(sum, hn::Set(d, d_.out.low)), hn::Set(d, d_.out.high));
    hn::StoreU(hn::DemoteTo(I8(), bounded), I8(), y);
  }
  static double real(const quantized_factor& f) {
    return std::ldexp(static_cast<double>(f.multiplier), f.shift - 31);
  }
#if HWY_TARGET != HWY_SCALAR
  static bool is_half(const quantized_factor& f) {
    return f.shift == 0 && f.multiplier == INT32_C(1) << 30;
  }
#endif
  HWY_INLINE VecI floating(VecI left, VecI right) const {
    const F32 f;
    const auto a = hn::Mul(hn::ConvertTo(f, left), hn::Set(f, d_.a_scale));
    const VecI signed_right = sign_ < 0 ? hn::Neg(right) : right;
    const auto b = hn::Mul(hn::ConvertTo(f, signed_right), hn::Set(f, d_.b_scale));
    const auto sum = hn::Div(hn::Add(a, b), hn::Set(f, d_.y_scale));
    return hn::NearestInt(hn::Min(hn::Max(sum, hn::Set(f, -512.0F)), hn::Set(f, 512.0F)));
  }

  HWY_INLINE VecI fixed(VecI left, VecI right) const {
#if HWY_TARGET == HWY_SCALAR
    return hn::Add(left, right);  // goes one by one
#else
    // The factor of the operand of the larger scale is 1/2.
    const VecI a = a_is_half_ ? hn::ShiftLeft<19>(left) : a_.times(hn::ShiftLeft<20>(left));
    const VecI b = b_is_half_ ? hn::ShiftLeft<19>(right) : b_.times(hn::ShiftLeft<20>(right));
    return y_.times(sign_ < 0 ? hn::Sub(a, b) : hn::Add(a, b));
#endif
  }

  quantized_sum_dims d_;
  int32_t sign_;
  // Of add_nearly: the sum is a * a_step_ + b * b_step_ + start_.
  bool in_float_ = false;
  float a_step_ = 0, b_step_ = 0, start_ = 0;
  float sure_rest_ = 0;  // of a number that is surely rounded to the right integer
#if HWY_TARGET != HWY_SCALAR
  simd::HWY_NAMESPACE::FixedFactor a_, b_, y_;  // of fixed point
  bool a_is_half_, b_is_half_;
#endif
};

// Elements [0, n); returns how many of them are done: whole vectors.
ptrdiff_t quantized_sum_target(int8_t* y, const int8_t* a, const int8_t* b, ptrdiff_t n,
                               int32_t sign, const quantized_sum_dims& d) {
  if (HWY_TARGET == HWY_SCALAR && d.out.fixed_point != 0) return 0;
  const SumOfVectors sum(d, sign);
  const auto lanes = static_cast<ptrdiff_t>(SumOfVectors::lanes());
  ptrdiff_t i = 0;
  for (const ptrdiff_t step = sum.step(); step > 0 && i + step <= n; i += step) {
    if (HWY_LIKELY(sum.add_nearly(y + i, a + i, b + i))) continue;
    SumOfVectors(sum).add_all(y + i, a + i, b + i, step);
  }
  for (; i + lanes <= n; i += lanes) sum.add(y + i, a + i, b + i);
  return i;
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(quantized_sum_target);

bool quantized_sum_is_plain(const quantized_sum_dims& d) {
  const nary_dims& walk = d.walk;
  const auto is_down = [](const quantized_factor& f) { return f.shift <= 0 && f.shift >= -31; };
  return walk.count == 1 && walk.stride[0][0] == 1 && walk.stride[1][0] == 1 &&
         (d.out.fixed_point == 0 ||
          (is_down(d.a_factor) && is_down(d.b_factor) && is_down(d.y_factor)));
}

void quantized_sum_fast(int8_t* y, const int8_t* a, const int8_t* b, int32_t sign,
                        const quantized_sum_dims& d, parallel::ThreadPool& pool) {
  constexpr ptrdiff_t kTaskElements = 16384;
  const ptrdiff_t count = d.walk.n;
  pool.run((count + kTaskElements - 1) / kTaskElements, [&](int64_t task) {
    const ptrdiff_t begin = task * kTaskElements;
    const ptrdiff_t n = std::min(count - begin, kTaskElements);
    for (ptrdiff_t i = begin + HWY_DYNAMIC_DISPATCH(quantized_sum_target)(y + begin, a + begin,
                                                                          b + begin, n, sign, d);
         i < begin + n; ++i) {
      y[i] = quantized_clamp(quantized_sum_unbounded(a[i], b[i], sign, &d), &d.out);
    }
  });
}

}  // namespace thimble::ops
#endif
