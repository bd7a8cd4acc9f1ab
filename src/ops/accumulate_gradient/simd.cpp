#include <hwy/highway.h>

#include "ops/accumulate_gradient/dims.h"
#include "ops/families/kernel/elements-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::accumulate_gradient_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void accumulate_gradient_target(float* sum_out, const float* sum, const float* grad,
                                const accumulate_dims* d, parallel::ThreadPool& pool) {
  const Vec weight = hn::Set(F32(), static_cast<float>(d->weight));
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    io.store(hn::MulAdd(weight, io.load(grad, i), io.load(sum, i)), sum_out, i);
  });
}

void mean_gradient_target(float* mean, float* sum_out, const float* sum, const float* grad,
                          const float* total, const accumulate_dims* d,
                          parallel::ThreadPool& pool) {
  const Vec weight = hn::Set(F32(), static_cast<float>(d->weight));
  const Vec share = hn::Set(F32(), static_cast<float>(1.0 / static_cast<double>(*total)));
  const Vec zero = hn::Zero(F32());
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec all = hn::MulAdd(weight, io.load(grad, i), io.load(sum, i));
    io.store(hn::Mul(share, all), mean, i);
    io.store(zero, sum_out, i);
  });
}

}  // namespace thimble::ops::accumulate_gradient_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::accumulate_gradient_impl {
HWY_EXPORT(accumulate_gradient_target);
HWY_EXPORT(mean_gradient_target);

void accumulate_gradient_simd(float* sum_out, const float* sum, const float* grad,
                              const accumulate_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(accumulate_gradient_target)(sum_out, sum, grad, d, pool);
}

void mean_gradient_simd(float* mean, float* sum_out, const float* sum, const float* grad,
                        const float* total, const accumulate_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(mean_gradient_target)(mean, sum_out, sum, grad, total, d, pool);
}

}  // namespace thimble::ops::accumulate_gradient_impl
#endif
