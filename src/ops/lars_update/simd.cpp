#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/lars_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::lars_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void lars_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                        const float* buffer, double* tile_sums, const lars_dims* d,
                        parallel::ThreadPool& pool) {
  double squares[2];
  sum_elements(d->n, pool, tile_sums, squares,
               [=](const auto& io, int64_t i, Vec(&sums)[2]) HWY_ATTR {
                 const Vec p = io.load(param, i);
                 const Vec g = io.load(grad, i);
                 sums[0] = hn::MulAdd(p, p, sums[0]);
                 sums[1] = hn::MulAdd(g, g, sums[1]);
               });
  const Vec rate = set(lars_rate(d, static_cast<double>(*lr), squares[0], squares[1]));
  const GradientRule gradient(d->maximize != 0, d->weight_decay);
  const Vec momentum = set(d->momentum);
  float* const param_out = out[0];
  float* const buffer_out = buffer == nullptr ? nullptr : out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec change = hn::Mul(rate, gradient(io.load(grad, i), p));
    if (buffer != nullptr) {
      change = hn::MulAdd(momentum, io.load(buffer, i), change);
      io.store(change, buffer_out, i);
    }
    io.store(hn::Sub(p, change), param_out, i);
  });
}

}  // namespace thimble::ops::lars_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::lars_update_impl {
HWY_EXPORT(lars_update_target);

int64_t lars_update_workspace_bytes(const lars_dims& d) {
  return 2 * HWY_STATIC_DISPATCH(element_tiles)(d.n) * static_cast<int64_t>(sizeof(double));
}

void lars_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* /*step*/, const float* buffer, void* workspace,
                      const lars_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(lars_update_target)
  (out, param, grad, lr, buffer, static_cast<double*>(workspace), d, pool);
}

}  // namespace thimble::ops::lars_update_impl
#endif
