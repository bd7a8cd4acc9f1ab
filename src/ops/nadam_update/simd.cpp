#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/nadam_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::nadam_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void nadam_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* m_, const float* v_,
                         const float* mu_product, const nadam_dims* d, parallel::ThreadPool& pool) {
  const nadam_factors factors =
      nadam_factors_at(d, static_cast<double>(*lr), *step, static_cast<double>(*mu_product));
  const GradientRule gradient(d->maximize != 0, d->decoupled != 0 ? 0.0 : d->weight_decay);
  const Vec shrink = set(factors.shrink);
  const Vec grad_size = set(factors.grad_size);
  const Vec moment_size = set(factors.moment_size);
  const Vec root = set(factors.root);
  const Vec share1 = set(1.0 - d->beta1);
  const Vec beta2 = set(d->beta2);
  const Vec share2 = set(1.0 - d->beta2);
  const Vec epsilon = set(d->epsilon);
  float* const param_out = out[0];
  float* const m_out = out[1];
  float* const v_out = out[2];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), p);
    const Vec m = moved(io.load(m_, i), share1, g);
    const Vec v = moved_square(io.load(v_, i), beta2, share2, g);
    io.store(m, m_out, i);
    io.store(v, v_out, i);
    const Vec ahead = hn::MulAdd(moment_size, m, hn::Mul(grad_size, g));
    const Vec change = hn::Div(ahead, hn::MulAdd(root, hn::Sqrt(v), epsilon));
    io.store(hn::MulSub(shrink, p, change), param_out, i);
  });
  *out[3] = static_cast<float>(factors.mu_product);
}

}  // namespace thimble::ops::nadam_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::nadam_update_impl {
HWY_EXPORT(nadam_update_target);

void nadam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_,
                       const float* mu_product, const nadam_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(nadam_update_target)
  (out, param, grad, lr, step, m_, v_, mu_product, d, pool);
}

}  // namespace thimble::ops::nadam_update_impl
#endif
