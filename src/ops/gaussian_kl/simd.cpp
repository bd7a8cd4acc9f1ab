#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"
#include "ops/families/loss/loss_dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::gaussian_kl_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// exp(x) - 1 for any x; Highway's own is wrong for large numbers and NaN.
HWY_INLINE Vec exp_minus_1(Vec x) {
  const F32 f;
  const Vec bounded = hn::Min(x, hn::Set(f, 89.0F));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Expm1(f, bounded));
}

void gaussian_kl_target(float* y, const float* mean, const float* logvar, void* workspace,
                        const loss_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const Vec half = hn::Set(f, 0.5F);
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec m = io.load(mean, i);
    const Vec v = io.load(logvar, i);
    return hn::Mul(half, hn::MulAdd(m, m, hn::Sub(exp_minus_1(v), v)));
  });
}

void gaussian_kl_grad_target(float* dmean, float* dlogvar, const float* dy, const float* mean,
                             const float* logvar, const loss_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const LossScale scale(dy, d);
  const Vec half = hn::Set(f, 0.5F);
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec v = io.load(logvar, i);
    const Vec whole = scale(io, i);
    io.store(hn::Mul(whole, io.load(mean, i)), dmean, i);
    io.store(hn::Mul(hn::Mul(half, whole), exp_minus_1(v)), dlogvar, i);
  });
}

}  // namespace thimble::ops::gaussian_kl_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::gaussian_kl_impl {
HWY_EXPORT(gaussian_kl_target);
HWY_EXPORT(gaussian_kl_grad_target);

void gaussian_kl_simd(float* y, const float* mean, const float* logvar, void* workspace,
                      const loss_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(gaussian_kl_target)(y, mean, logvar, workspace, *d, pool);
}

void gaussian_kl_grad_simd(float* dmean, float* dlogvar, const float* dy, const float* mean,
                           const float* logvar, const loss_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(gaussian_kl_grad_target)(dmean, dlogvar, dy, mean, logvar, *d, pool);
}

}  // namespace thimble::ops::gaussian_kl_impl
#endif
