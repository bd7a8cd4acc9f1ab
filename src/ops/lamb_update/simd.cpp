#include <hwy/highway.h>

#include "ops/families/update/update-inl.h"
#include "ops/lamb_update/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::lamb_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Adam's step with a learning rate of 1.
class LambStep {
 public:
  LambStep(const lamb_dims* d, int step)
      : first_(set(lamb_first(d, step))),
        root_(set(lamb_root(d, step))),
        epsilon_(set(d->epsilon)),
        decay_(set(d->weight_decay)) {}
  [[nodiscard]] HWY_INLINE Vec operator()(Vec p, Vec m, Vec v) const {
    const Vec root = hn::MulAdd(root_, hn::Sqrt(v), epsilon_);
    return hn::MulAdd(decay_, p, hn::Div(hn::Mul(first_, m), root));
  }

 private:
  Vec first_;
  Vec root_;
  Vec epsilon_;
  Vec decay_;
};

void lamb_update_target(float* const* out, const float* param, const float* grad, const float* lr,
                        const int32_t* step, const float* m_, const float* v_, double* tile_sums,
                        const lamb_dims* d, parallel::ThreadPool& pool) {
  const GradientRule gradient(d->maximize != 0, 0.0);
  const LambStep adam(d, *step);
  const Vec share1 = set(1.0 - d->beta1);
  const Vec beta2 = set(d->beta2);
  const Vec share2 = set(1.0 - d->beta2);
  float* const param_out = out[0];
  float* const m_out = out[1];
  float* const v_out = out[2];
  double squares[2];
  sum_elements(d->n, pool, tile_sums, squares,
               [=](const auto& io, int64_t i, Vec(&sums)[2]) HWY_ATTR {
                 const Vec p = io.load(param, i);
                 const Vec g = gradient(io.load(grad, i), p);
                 const Vec m = moved(io.load(m_, i), share1, g);
                 const Vec v = moved_square(io.load(v_, i), beta2, share2, g);
                 io.store(m, m_out, i);
                 io.store(v, v_out, i);
                 // Lanes beyond the last element would be 0 / 0 with an epsilon of 0.
                 const Vec r = io.present(adam(p, m, v), hn::Zero(F32()));
                 sums[0] = hn::MulAdd(p, p, sums[0]);
                 sums[1] = hn::MulAdd(r, r, sums[1]);
               });
  const Vec rate = set(lamb_rate(static_cast<double>(*lr), squares[0], squares[1]));
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec p = io.load(param, i);
    io.store(hn::NegMulAdd(rate, adam(p, io.load(m_out, i), io.load(v_out, i)), p), param_out, i);
  });
}

}  // namespace thimble::ops::lamb_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::lamb_update_impl {
HWY_EXPORT(lamb_update_target);

int64_t lamb_update_workspace_bytes(const lamb_dims& d) {
  return 2 * HWY_STATIC_DISPATCH(element_tiles)(d.n) * static_cast<int64_t>(sizeof(double));
}

void lamb_update_simd(float* const* out, const float* param, const float* grad, const float* lr,
                      const int32_t* step, const float* m_, const float* v_, void* workspace,
                      const lamb_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(lamb_update_target)
  (out, param, grad, lr, step, m_, v_, static_cast<double*>(workspace), d, pool);
}

}  // namespace thimble::ops::lamb_update_impl
#endif
