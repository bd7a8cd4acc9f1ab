#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::huber_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void huber_target(float* y, const float* x, const float* t, void* workspace, const loss_dims& d,
                  parallel::ThreadPool& pool) {
  const F32 f;
  const Vec delta = hn::Set(f, static_cast<float>(d.a));
  const Vec half = hn::Set(f, 0.5F);
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec distance = hn::Abs(hn::Sub(io.load(x, i), io.load(t, i)));
    const Vec parabola = hn::Mul(hn::Mul(distance, distance), half);
    const Vec line = hn::Mul(delta, hn::NegMulAdd(delta, half, distance));
    return hn::IfThenElse(hn::Le(distance, delta), parabola, line);
  });
}

void huber_grad_target(float* dx, const float* dy, const float* x, const float* t,
                       const loss_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const LossScale scale(dy, d);
  const Vec delta = hn::Set(f, static_cast<float>(d.a));
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec difference = hn::Sub(io.load(x, i), io.load(t, i));
    const Vec below = hn::IfThenElse(hn::Gt(difference, delta), delta, difference);
    const Vec slope = hn::IfThenElse(hn::Lt(difference, hn::Neg(delta)), hn::Neg(delta), below);
    io.store(hn::Mul(scale(io, i), slope), dx, i);
  });
}

}  // namespace thimble::ops::huber_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(huber)
