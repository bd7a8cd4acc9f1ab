#include "ops/binary_cross_entropy_with_logits/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/binary_cross_entropy_with_logits/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "ops/common/loss-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

void bce_target(float* y, const float* x, const float* t, void* workspace, const loss_dims& d,
                exec::ThreadPool& pool) {
  const F32 f;
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec logit = io.load(x, i);
    const Vec small = hn::Log1p(f, hn::Exp(f, hn::Neg(hn::Abs(logit))));
    const Vec linear = hn::NegMulAdd(logit, io.load(t, i), hn::Max(logit, hn::Zero(f)));
    // The vector exponential and logarithm do not promise to pass NaN on.
    return hn::IfThenElse(hn::IsNaN(logit), logit, hn::Add(linear, small));
  });
}

void bce_grad_target(float* dx, const float* dy, const float* x, const float* t, const loss_dims& d,
                     exec::ThreadPool& pool) {
  const F32 f;
  const Vec one = hn::Set(f, 1.0F);
  const Vec scale = hn::Set(f, *dy / static_cast<float>(d.divisor));
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec logit = io.load(x, i);
    // The exponential of a negative number alone: it cannot overflow.
    const Vec small = hn::Exp(f, hn::Neg(hn::Abs(logit)));
    const Vec numerator = hn::IfThenElse(hn::Lt(logit, hn::Zero(f)), small, one);
    const Vec sigmoid = hn::Div(numerator, hn::Add(one, small));
    const Vec difference = hn::Sub(sigmoid, io.load(t, i));
    io.store(hn::Mul(scale, hn::IfThenElse(hn::IsNaN(logit), logit, difference)), dx, i);
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(bce_target);
HWY_EXPORT(bce_grad_target);

void binary_cross_entropy_with_logits_simd(float* y, const float* x, const float* t,
                                           void* workspace, const loss_dims* d,
                                           exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(bce_target)(y, x, t, workspace, *d, pool);
}

void binary_cross_entropy_with_logits_grad_simd(float* dx, const float* dy, const float* x,
                                                const float* t, const loss_dims* d,
                                                exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(bce_grad_target)(dx, dy, x, t, *d, pool);
}

}  // namespace thimble::ops
#endif
