#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::mae_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void mae_target(float* y, const float* x, const float* t, void* workspace, const loss_dims& d,
                parallel::ThreadPool& pool) {
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    return hn::Abs(hn::Sub(io.load(x, i), io.load(t, i)));
  });
}

void mae_grad_target(float* dx, const float* dy, const float* x, const float* t, const loss_dims& d,
                     parallel::ThreadPool& pool) {
  const F32 f;
  const LossScale scale(dy, d);
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec a = io.load(x, i);
    const Vec b = io.load(t, i);
    // 0 where they are equal, even if infinite; NaN where one is NaN.
    const Vec other = hn::IfThenZeroElse(hn::Eq(a, b), hn::Sub(a, b));
    const Vec above = hn::IfThenElse(hn::Gt(a, b), hn::Set(f, 1.0F), other);
    io.store(hn::Mul(scale(io, i), hn::IfThenElse(hn::Lt(a, b), hn::Set(f, -1.0F), above)), dx, i);
  });
}

}  // namespace thimble::ops::mae_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(mae)
