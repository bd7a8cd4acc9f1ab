#include <hwy/highway.h>

#include "ops/families/loss/loss-inl.h"
#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::binary_cross_entropy_with_logits_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

namespace vm = simd::HWY_NAMESPACE;

void binary_cross_entropy_with_logits_target(float* y, const float* x, const float* t,
                                             void* workspace, const loss_dims& d,
                                             parallel::ThreadPool& pool) {
  const F32 f;
  reduce_terms(y, workspace, d, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec logit = io.load(x, i);
    // log(1 + e^x) - x t: the large terms are combined first, so that the small one keeps its
    // digits.
    const Vec linear = hn::NegMulAdd(logit, io.load(t, i), hn::Max(logit, hn::Zero(f)));
    return hn::Add(linear, vm::log1p_unit(vm::exp_below(hn::Neg(hn::Abs(logit)))));
  });
}

void binary_cross_entropy_with_logits_grad_target(float* dx, const float* dy, const float* x,
                                                  const float* t, const loss_dims& d,
                                                  parallel::ThreadPool& pool) {
  const LossScale scale(dy, d);
  over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR {
    const Vec difference = hn::Sub(vm::sigmoid(io.load(x, i)), io.load(t, i));
    io.store(hn::Mul(scale(io, i), difference), dx, i);
  });
}

}  // namespace thimble::ops::binary_cross_entropy_with_logits_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

LOSS_SIMD_EXPORT(binary_cross_entropy_with_logits)
