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
    start_ = static_cast<float>(-a * d.a_zero_point - b * d.b_zero_point);
    // Of fixed point: each operand within a unit, then half a unit of the first rounding. Of float:
    // what its few roundings change in numbers that the sum of both cannot exceed.
    const double error =
        2 * unit + std::ldexp(0.5, d.y_factor.shift) + 0x1p-21 * 256 * (std::abs(a) + std::abs(b));
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

  // How many elements add_nearly takes, or 0 where it has not the precision.
  [[nodiscard]] ptrdiff_t step() const {
    return in_float_ ? kVectors * static_cast<ptrdiff_t>(lanes()) : 0;
  }

  // In float, for sums in fixed point. False where some may lie on the other side of the boundary
  // between two integers: then nothing is stored.
  HWY_INLINE bool add_nearly(int8_t* y, const int8_t* a, const int8_t* b) const {
#if HWY_TARGET == HWY_SCALAR
    return static_cast<void>(y), static_cast<void>(a), static_cast<void>(b), false;
#else
    const F32 f;
    const I32 d;
    // Adding it rounds a number to an integer, which the lowest bits then hold.
    const auto rounder = hn::Set(f, 0x1.8p23F);
    const VecI less =
        hn::Sub(hn::BitCast(d, rounder), hn::Set(d, static_cast<int32_t>(d_.out.zero_point)));
    auto most = hn::Zero(f);
    const auto step = static_cast<ptrdiff_t>(lanes());
    const auto sum = [&](ptrdiff_t i) HWY_ATTR {
      const auto left = hn::ConvertTo(f, hn::PromoteTo(d, hn::LoadU(I8(), a + i)));
      const auto right = hn::ConvertTo(f, hn::PromoteTo(d, hn::LoadU(I8(), b + i)));
      const auto real = hn::MulAdd(right, hn::Set(f, b_step_),
                                   hn::MulAdd(left, hn::Set(f, a_step_), hn::Set(f, start_)));
      const auto rounded = hn::Add(real, rounder);
      most = hn::Max(most, hn::Abs(hn::Sub(real, hn::Sub(rounded, rounder))));
      return hn::Sub(hn::BitCast(d, rounded), less);
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
    for (ptrdiff_t k = i; k < i + step; k += lanes) sum.add(y + k, a + k, b + k);
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
