#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/sign_sgd_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sign_sgd_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void sign_sgd_update_target(float* const* out, const float* param, const float* grad,
                            const float* lr, const float* buffer, const sign_sgd_dims* d,
                            parallel::ThreadPool& pool) {
  const bool decoupled = d->decoupled != 0;
  const GradientRule gradient(d->maximize != 0, decoupled ? 0.0 : d->weight_decay);
  const Vec rate = set(static_cast<double>(*lr));
  const Vec shrink = set(decoupled ? 1.0 - static_cast<double>(*lr) * d->weight_decay : 1.0);
  const Vec share = set(1.0 - d->momentum);
  float* const param_out = out[0];
  float* const buffer_out = buffer == nullptr ? nullptr : out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec g = gradient(io.load(grad, i), p);
    if (buffer != nullptr) {
      g = moved(io.load(buffer, i), share, g);
      io.store(g, buffer_out, i);
    }
    io.store(hn::MulSub(shrink, p, hn::Mul(rate, sign_of(g))), param_out, i);
  });
}

}  // namespace thimble::ops::sign_sgd_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::sign_sgd_update_impl {
HWY_EXPORT(sign_sgd_update_target);

void sign_sgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* /*step*/, const float* buffer, const sign_sgd_dims* d,
                          parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(sign_sgd_update_target)
  (out, param, grad, lr, buffer, d, pool);
}

}  // namespace thimble::ops::sign_sgd_update_impl
#endif
