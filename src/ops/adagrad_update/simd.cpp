#include <hwy/highway.h>

#include "ops/adagrad_update/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adagrad_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void adagrad_update_target(float* const* out, const float* param, const float* grad,
                           const float* lr, const int32_t* step, const float* sum,
                           const adagrad_dims* d, parallel::ThreadPool& pool) {
  const GradientRule gradient(d->maximize != 0, d->weight_decay);
  const Vec rate = set(adagrad_rate(d, static_cast<double>(*lr), *step));
  const Vec epsilon = set(d->epsilon);
  float* const param_out = out[0];
  float* const sum_out = out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), p);
    const Vec s = hn::MulAdd(g, g, io.load(sum, i));
    io.store(s, sum_out, i);
    const Vec change = hn::Div(hn::Mul(rate, g), hn::Add(hn::Sqrt(s), epsilon));
    io.store(hn::Sub(p, change), param_out, i);
  });
}

}  // namespace thimble::ops::adagrad_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adagrad_update_impl {
HWY_EXPORT(adagrad_update_target);

void adagrad_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                         const int32_t* step, const float* sum, const adagrad_dims* d,
                         parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adagrad_update_target)
  (out, param, grad, lr, step, sum, d, pool);
}

}  // namespace thimble::ops::adagrad_update_impl
#endif
