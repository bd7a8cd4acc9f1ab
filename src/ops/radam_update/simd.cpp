#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/radam_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::radam_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void radam_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* m_, const float* v_, const radam_dims* d,
                         parallel::ThreadPool& pool) {
  const radam_factors factors = radam_factors_at(d, static_cast<double>(*lr), *step);
  const GradientRule gradient(d->maximize != 0, d->decoupled != 0 ? 0.0 : d->weight_decay);
  const Vec shrink = set(factors.shrink);
  const Vec step_size = set(factors.step_size);
  const Vec share1 = set(1.0 - d->beta1);
  const Vec beta2 = set(d->beta2);
  const Vec share2 = set(1.0 - d->beta2);
  const Vec epsilon = set(d->epsilon);
  const bool adaptive = factors.adaptive != 0;
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
    const Vec change = adaptive ? hn::Div(m, hn::Add(hn::Sqrt(v), epsilon)) : m;
    io.store(hn::MulSub(shrink, p, hn::Mul(step_size, change)), param_out, i);
  });
}

}  // namespace thimble::ops::radam_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::radam_update_impl {
HWY_EXPORT(radam_update_target);

void radam_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                       const int32_t* step, const float* m_, const float* v_, const radam_dims* d,
                       parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(radam_update_target)
  (out, param, grad, lr, step, m_, v_, d, pool);
}

}  // namespace thimble::ops::radam_update_impl
#endif
