#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/rmsprop_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::rmsprop_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void rmsprop_update_target(float* const* out, const float* param, const float* grad,
                           const float* lr, const float* v_, const float* second,
                           const float* third, const rmsprop_dims* d, parallel::ThreadPool& pool) {
  const F32 f;
  const Vec zero = hn::Zero(f);
  const Vec rate = hn::Set(f, *lr);
  const Vec alpha = hn::Set(f, static_cast<float>(d->alpha));
  const Vec share = hn::Set(f, static_cast<float>(1.0 - d->alpha));
  const Vec epsilon = hn::Set(f, static_cast<float>(d->epsilon));
  const Vec momentum = hn::Set(f, static_cast<float>(d->momentum));
  const Vec decay = hn::Set(f, static_cast<float>(d->weight_decay));
  const bool decays = d->weight_decay != 0.0;
  const bool maximize = d->maximize != 0;
  const bool inside = d->epsilon_inside_root != 0;
  float* const param_out = out[0];
  float* const v_out = out[1];
  const bool centered = d->centered != 0;
  const float* buffer = d->momentum == 0.0 ? nullptr : centered ? third : second;
  float* const mean_out = centered ? out[2] : nullptr;
  float* const buffer_out = buffer == nullptr ? nullptr : out[centered ? 3 : 2];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec g = io.load(grad, i);
    if (maximize) g = hn::Neg(g);
    if (decays) g = hn::MulAdd(decay, p, g);
    const Vec v = hn::MulAdd(alpha, io.load(v_, i), hn::Mul(hn::Mul(share, g), g));
    Vec spread = v;
    io.store(v, v_out, i);
    if (centered) {
      const Vec before = io.load(second, i);
      const Vec mean = hn::MulAdd(share, hn::Sub(g, before), before);
      io.store(mean, mean_out, i);
      spread = hn::Max(hn::NegMulAdd(mean, mean, v), zero);
    }
    const Vec root =
        inside ? hn::Sqrt(hn::Add(spread, epsilon)) : hn::Add(hn::Sqrt(spread), epsilon);
    Vec change = hn::Div(g, root);
    if (buffer != nullptr) {
      change = hn::MulAdd(momentum, io.load(buffer, i), change);
      io.store(change, buffer_out, i);
    }
    io.store(hn::NegMulAdd(rate, change, p), param_out, i);
  });
}

}  // namespace thimble::ops::rmsprop_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::rmsprop_update_impl {
HWY_EXPORT(rmsprop_update_target);

void rmsprop_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* /*step*/, const float* v, const float* second,
                         const float* third, const rmsprop_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rmsprop_update_target)(out, param, grad, lr, v, second, third, d, pool);
}

}  // namespace thimble::ops::rmsprop_update_impl
#endif
