#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/sgd_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sgd_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void sgd_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* buffer, const sgd_dims* d,
                       parallel::ThreadPool& pool) {
  const F32 f;
  const Vec rate = hn::Set(f, *lr);
  const Vec momentum = hn::Set(f, static_cast<float>(d->momentum));
  const Vec share = hn::Set(f, static_cast<float>(1.0 - d->dampening));
  const Vec decay = hn::Set(f, static_cast<float>(d->weight_decay));
  const bool decays = d->weight_decay != 0.0;
  const bool first = *step == 1;
  const bool maximize = d->maximize != 0;
  const bool nesterov = d->nesterov != 0;
  float* const param_out = out[0];
  float* const buffer_out = buffer == nullptr ? nullptr : out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec g = io.load(grad, i);
    if (maximize) g = hn::Neg(g);
    if (decays) g = hn::MulAdd(decay, p, g);
    if (buffer != nullptr) {
      const Vec b = first ? g : hn::MulAdd(momentum, io.load(buffer, i), hn::Mul(share, g));
      io.store(b, buffer_out, i);
      g = nesterov ? hn::MulAdd(momentum, b, g) : b;
    }
    io.store(hn::NegMulAdd(rate, g, p), param_out, i);
  });
}

}  // namespace thimble::ops::sgd_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::sgd_update_impl {
HWY_EXPORT(sgd_update_target);

void sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                     const int32_t* step, const float* buffer, const sgd_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(sgd_update_target)(out, param, grad, lr, step, buffer, d, pool);
}

}  // namespace thimble::ops::sgd_update_impl
#endif
