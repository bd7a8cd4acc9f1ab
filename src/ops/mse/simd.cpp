#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::mse_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void mse_target(float* y, const float* x, const float* t, void* workspace, const loss_dims& d,
                parallel::ThreadPool& pool) {
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec difference = hn::Sub(io.load(x, i), io.load(t, i));
    return hn::Mul(difference, difference);
  });
}

void mse_grad_target(float* dx, const float* dy, const float* x, const float* t, const loss_dims& d,
                     parallel::ThreadPool& pool) {
  const LossScale scale(dy, d);
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec difference = hn::Sub(io.load(x, i), io.load(t, i));
    io.store(hn::Mul(scale(io, i), hn::Add(difference, difference)), dx, i);
  });
}

}  // namespace thimble::ops::mse_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(mse)
