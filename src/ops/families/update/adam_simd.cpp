#include "ops/families/update/adam_simd.h"

#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

void adam_target(float* const* out, const float* param, const float* grad, const float* lr,
                 const int32_t* step, const float* m_, const float* v_, const float* top,
                 const adam_dims* d, parallel::ThreadPool& pool) {
  const F32 f;
  const adam_factors factors = adam_factors_at(d, static_cast<double>(*lr), *step);
  const Vec shrink = hn::Set(f, static_cast<float>(factors.shrink));
  const Vec step_size = hn::Set(f, static_cast<float>(factors.step_size));
  const Vec root = hn::Set(f, static_cast<float>(factors.root));
  const Vec share1 = hn::Set(f, static_cast<float>(1.0 - d->beta1));
  const Vec beta2 = hn::Set(f, static_cast<float>(d->beta2));
  const Vec share2 = hn::Set(f, static_cast<float>(1.0 - d->beta2));
  const Vec epsilon = hn::Set(f, static_cast<float>(d->epsilon));
  const Vec decay = hn::Set(f, static_cast<float>(d->weight_decay));
  const bool maximize = d->maximize != 0;
  float* const param_out = out[0];
  float* const m_out = out[1];
  float* const v_out = out[2];
  float* const top_out = top == nullptr ? nullptr : out[3];
  const bool decays = d->decoupled == 0 && d->weight_decay != 0.0;
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    Vec g = io.load(grad, i);
    if (maximize) g = hn::Neg(g);
    if (decays) g = hn::MulAdd(decay, p, g);
    const Vec m_before = io.load(m_, i);
    const Vec m = hn::MulAdd(share1, hn::Sub(g, m_before), m_before);
    const Vec v = hn::MulAdd(beta2, io.load(v_, i), hn::Mul(hn::Mul(share2, g), g));
    Vec spread = v;
    io.store(m, m_out, i);
    io.store(v, v_out, i);
    if (top != nullptr) {
      spread = hn::Max(v, io.load(top, i));
      io.store(spread, top_out, i);
    }
    const Vec change = hn::Div(hn::Mul(step_size, m), hn::MulAdd(root, hn::Sqrt(spread), epsilon));
    io.store(hn::MulSub(shrink, p, change), param_out, i);
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(adam_target);

void adam_simd(float* const* out, const float* param, const float* grad, const float* lr,
               const int32_t* step, const float* m, const float* v, const float* top,
               const adam_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adam_target)(out, param, grad, lr, step, m, v, top, d, pool);
}

}  // namespace thimble::ops
#endif
