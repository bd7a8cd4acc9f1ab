#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/lion_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::lion_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void lion_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                        const float* m_, const lion_dims* d, parallel::ThreadPool& pool) {
  const GradientRule gradient(d->maximize != 0, 0.0);
  const Vec rate = set(static_cast<double>(*lr));
  const Vec shrink = set(1.0 - static_cast<double>(*lr) * d->weight_decay);
  const Vec share1 = set(1.0 - d->beta1);
  const Vec share2 = set(1.0 - d->beta2);
  float* const param_out = out[0];
  float* const m_out = out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), p);
    const Vec m = io.load(m_, i);
    const Vec change = hn::Mul(rate, sign_of(moved(m, share1, g)));
    io.store(moved(m, share2, g), m_out, i);
    io.store(hn::MulSub(shrink, p, change), param_out, i);
  });
}

}  // namespace thimble::ops::lion_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::lion_update_impl {
HWY_EXPORT(lion_update_target);

void lion_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* /*step*/, const float* m_, const lion_dims* d,
                      parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(lion_update_target)
  (out, param, grad, lr, m_, d, pool);
}

}  // namespace thimble::ops::lion_update_impl
#endif
