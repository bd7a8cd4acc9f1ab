#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/regularize_gradient/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::regularize_gradient_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void regularize_gradient_target(float* y, const float* grad, const float* param,
                                const regularize_gradient_dims* d, parallel::ThreadPool& pool) {
  const Vec l1 = set(d->l1);
  const Vec l2 = set(d->l2);
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = hn::MulAdd(l2, p, io.load(grad, i));
    io.store(hn::MulAdd(l1, sign_of(p), g), y, i);
  });
}

}  // namespace thimble::ops::regularize_gradient_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::regularize_gradient_impl {
HWY_EXPORT(regularize_gradient_target);

void regularize_gradient_simd(float* y, const float* grad, const float* param,
                              const regularize_gradient_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(regularize_gradient_target)(y, grad, param, d, pool);
}

}  // namespace thimble::ops::regularize_gradient_impl
#endif
