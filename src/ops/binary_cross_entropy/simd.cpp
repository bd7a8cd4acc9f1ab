#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"
#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::binary_cross_entropy_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

namespace vm = simd::HWY_NAMESPACE;

HWY_INLINE Vec bounded_log(Vec x) { return vm::at_least(hn::Set(F32(), -100.0F), vm::log(x)); }

void binary_cross_entropy_target(float* y, const float* x, const float* t, void* workspace,
                                 const loss_dims& d, parallel::ThreadPool& pool) {
  const Vec one = hn::Set(F32(), 1.0F);
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec value = io.load(x, i);
    const Vec target = io.load(t, i);
    const Vec other = hn::Mul(hn::Sub(one, target), bounded_log(hn::Sub(one, value)));
    return hn::Neg(hn::MulAdd(target, bounded_log(value), other));
  });
}

void binary_cross_entropy_grad_target(float* dx, const float* dy, const float* x, const float* t,
                                      const loss_dims& d, parallel::ThreadPool& pool) {
  const Vec one = hn::Set(F32(), 1.0F);
  const Vec least = hn::Set(F32(), 1e-12F);
  const LossScale scale(dy, d);
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec value = io.load(x, i);
    const Vec variance = vm::at_least(least, hn::Mul(value, hn::Sub(one, value)));
    const Vec slope = hn::Div(hn::Sub(value, io.load(t, i)), variance);
    io.store(hn::Mul(scale(io, i), slope), dx, i);
  });
}

}  // namespace thimble::ops::binary_cross_entropy_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(binary_cross_entropy)
