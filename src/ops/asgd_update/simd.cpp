#include <hwy/highway.h>

#include "ops/asgd_update/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::asgd_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void asgd_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const float* ax, const float* eta, const asgd_dims* d,
                        parallel::ThreadPool& pool) {
  const asgd_factors factors =
      asgd_factors_at(d, static_cast<double>(*lr), *step, static_cast<double>(*eta));
  const GradientRule gradient(d->maximize != 0, d->weight_decay);
  const Vec rate = set(factors.rate);
  const Vec shrink = set(factors.shrink);
  const Vec share = set(factors.share);
  const bool averages = factors.share != 1.0;
  float* const param_out = out[0];
  float* const ax_out = out[1];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec before = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), before);
    const Vec p = hn::NegMulAdd(rate, g, hn::Mul(shrink, before));
    io.store(averages ? moved(io.load(ax, i), share, p) : p, ax_out, i);
    io.store(p, param_out, i);
  });
  *out[2] = static_cast<float>(factors.next);
}

}  // namespace thimble::ops::asgd_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::asgd_update_impl {
HWY_EXPORT(asgd_update_target);

void asgd_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* ax, const float* eta, const asgd_dims* d,
                      parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(asgd_update_target)(out, param, grad, lr, step, ax, eta, d, pool);
}

}  // namespace thimble::ops::asgd_update_impl
#endif
