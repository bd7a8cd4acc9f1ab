#include <hwy/highway.h>

#include "ops/adadelta_update/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adadelta_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void adadelta_update_target(float* const* out, const float* param, const float* grad,
                            const float* lr, const float* v_, const float* acc,
                            const adadelta_dims* d, parallel::ThreadPool& pool) {
  const GradientRule gradient(d->maximize != 0, d->weight_decay);
  const Vec rate = set(static_cast<double>(*lr));
  const Vec rho = set(d->rho);
  const Vec share = set(1.0 - d->rho);
  const Vec epsilon = set(d->epsilon);
  float* const param_out = out[0];
  float* const v_out = out[1];
  float* const acc_out = out[2];
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    const Vec g = gradient(io.load(grad, i), p);
    const Vec v = moved_square(io.load(v_, i), rho, share, g);
    const Vec a = io.load(acc, i);
    const Vec roots = hn::Div(hn::Sqrt(hn::Add(a, epsilon)), hn::Sqrt(hn::Add(v, epsilon)));
    const Vec delta = hn::Mul(roots, g);
    io.store(v, v_out, i);
    io.store(moved_square(a, rho, share, delta), acc_out, i);
    io.store(hn::NegMulAdd(rate, delta, p), param_out, i);
  });
}

}  // namespace thimble::ops::adadelta_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adadelta_update_impl {
HWY_EXPORT(adadelta_update_target);

void adadelta_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                          const int32_t* /*step*/, const float* v_, const float* acc,
                          const adadelta_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adadelta_update_target)
  (out, param, grad, lr, v_, acc, d, pool);
}

}  // namespace thimble::ops::adadelta_update_impl
#endif
