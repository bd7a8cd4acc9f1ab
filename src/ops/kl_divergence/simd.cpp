#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"
#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::kl_divergence_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

namespace vm = simd::HWY_NAMESPACE;

void kl_divergence_target(float* y, const float* x, const float* t, void* workspace,
                          const loss_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  if (d.a != 0.0) {
    reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
      const Vec target = io.load(t, i);
      const Vec share = vm::exp(target);
      return hn::Mul(share, hn::Sub(target, io.load(x, i)));
    });
    return;
  }
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec share = io.load(t, i);
    const Vec log = vm::log(share);
    const Vec term = hn::Mul(share, hn::Sub(log, io.load(x, i)));
    return hn::IfThenZeroElse(hn::Eq(share, hn::Zero(f)), term);
  });
}

void kl_divergence_grad_target(float* dx, const float* dy, const float* /*x*/, const float* t,
                               const loss_dims& d, parallel::ThreadPool& pool) {
  const LossScale scale(dy, d);
  const bool is_log = d.a != 0.0;
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec target = io.load(t, i);
    const Vec share = is_log ? vm::exp(target) : target;
    io.store(hn::Neg(hn::Mul(scale(io, i), share)), dx, i);
  });
}

}  // namespace thimble::ops::kl_divergence_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(kl_divergence)
