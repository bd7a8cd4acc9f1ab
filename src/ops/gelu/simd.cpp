#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::gelu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

inline constexpr float kRoot2OverPi = 0.7978845608F;
inline constexpr float kCubic = 0.044715F;

// Returns 2 u; (1 + tanh(u)) / 2 = sigmoid(2 u).
HWY_INLINE Vec gelu_twice(Vec x) {
  const F32 f;
  const Vec cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(f, kCubic), hn::Set(f, 1.0F));
  return hn::Mul(hn::Mul(x, hn::Set(f, 2 * kRoot2OverPi)), cubic);
}

HWY_INLINE Vec gelu_value(Vec x, bool is_tanh) {
  return hn::Mul(x, is_tanh ? math::sigmoid(gelu_twice(x)) : math::normal(x).integral);
}

HWY_INLINE Vec gelu_slope(Vec x, bool is_tanh) {
  const F32 f;
  if (!is_tanh) {
    const math::Normal n = math::normal(x);
    return hn::MulAdd(x, n.density, n.integral);
  }
  const math::Sigmoid s = math::sigmoid_and_rest(gelu_twice(x));
  const Vec square = hn::Mul(x, x);
  const Vec steepness = hn::Mul(hn::MulAdd(square, hn::Set(f, 3 * kCubic), hn::Set(f, 1.0F)),
                                hn::Set(f, 2 * kRoot2OverPi));
  return hn::MulAdd(hn::Mul(s.value, hn::Mul(x, steepness)), s.rest, s.value);
}

UNARY_SIMD(gelu, gelu_value(x, d->a != 0))
UNARY_GRAD_SIMD(gelu, x, hn::Mul(dy, gelu_slope(x, d->a != 0)))

}  // namespace thimble::ops::gelu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT(gelu)
