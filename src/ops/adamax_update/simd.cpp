#include <hwy/highway.h>

#include "ops/adamax_update/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adamax_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void adamax_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* step, const float* m_, const float* u_,
                          const adamax_dims* d, parallel::ThreadPool& pool) {
  const GradientRule gradient(d->maximize != 0, d->weight_decay);
  const Vec step_size = set(adamax_step_size(d, static_cast<double>(*lr), *step));
  const Vec share1 = set(1.0 - d->beta1);
  const Vec beta2 = set(d->beta2);
  const Vec epsilon = set(d->epsilon);
  float* const param_out = out[0];
  float* const m_out = out[1];
  float* const u_out = out[2];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), p);
    const Vec m = moved(io.load(m_, i), share1, g);
    const Vec u = hn::Max(hn::Mul(beta2, io.load(u_, i)), hn::Add(hn::Abs(g), epsilon));
    io.store(m, m_out, i);
    io.store(u, u_out, i);
    io.store(hn::Sub(p, hn::Div(hn::Mul(step_size, m), u)), param_out, i);
  });
}

}  // namespace thimble::ops::adamax_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adamax_update_impl {
HWY_EXPORT(adamax_update_target);

void adamax_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const float* m_, const float* u_, const adamax_dims* d,
                        parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adamax_update_target)
  (out, param, grad, lr, step, m_, u_, d, pool);
}

}  // namespace thimble::ops::adamax_update_impl
#endif
