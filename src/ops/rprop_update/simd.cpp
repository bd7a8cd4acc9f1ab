#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/rprop_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::rprop_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void rprop_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* prev, const float* sizes,
                         const rprop_dims* d, parallel::ThreadPool& pool) {
  const bool maximize = d->maximize != 0;
  const bool first = *step == 1;
  const Vec start = hn::Set(F32(), *lr);
  const Vec minus = set(d->eta_minus);
  const Vec plus = set(d->eta_plus);
  const Vec smallest = set(d->smallest);
  const Vec largest = set(d->largest);
  float* const param_out = out[0];
  float* const prev_out = out[1];
  float* const sizes_out = out[2];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec zero = hn::Zero(F32());
    Vec g = io.load(grad, i);
    if (maximize) g = hn::Neg(g);
    const Vec agreement = hn::Mul(g, io.load(prev, i));
    const auto turned = hn::Lt(agreement, zero);
    const Vec before = first ? start : io.load(sizes, i);
    const Vec changed = hn::IfThenElse(turned, hn::Mul(before, minus), before);
    const Vec grown = hn::IfThenElse(hn::Gt(agreement, zero), hn::Mul(before, plus), changed);
    const Vec size = hn::Min(hn::Max(grown, smallest), largest);
    g = hn::IfThenZeroElse(turned, g);
    io.store(g, prev_out, i);
    io.store(size, sizes_out, i);
    io.store(hn::NegMulAdd(sign_of(g), size, io.load(param, i)), param_out, i);
  });
}

}  // namespace thimble::ops::rprop_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::rprop_update_impl {
HWY_EXPORT(rprop_update_target);

void rprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* prev, const float* sizes,
                       const rprop_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rprop_update_target)(out, param, grad, lr, step, prev, sizes, d, pool);
}

}  // namespace thimble::ops::rprop_update_impl
#endif
