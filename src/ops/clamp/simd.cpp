#include <hwy/highway.h>

#include <limits>

#include "ops/families/nary/nary-inl.h"
#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::clamp_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void clamp_target(float* y, const float* x, const float* low, const float* high, const nary_dims& d,
                  parallel::ThreadPool& pool) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Along from(x, at[0], d.stride[0][0]);
    const Along least(low, at[1], d.stride[1][0], -kInfinity);
    const Along most(high, at[2], d.stride[2][0], kInfinity);
    float* const to = y + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      const Vec value = from(io, i);
      const Vec bottom = least(io, i);
      const Vec top = most(io, i);
      const auto below = hn::Or(hn::Lt(value, bottom), hn::IsNaN(bottom));
      const Vec raised = hn::IfThenElse(below, bottom, value);
      const auto above = hn::Or(hn::Gt(raised, top), hn::IsNaN(top));
      io.store(hn::IfThenElse(above, top, raised), to, i);
    });
  });
}

// kInput: the input whose gradient is computed: 0 x, 1 low, 2 high.
template <int kInput>
void grad_by(float* dx, const float* dy, const float* x, const float* low, const float* high,
             const nary_dims& d, parallel::ThreadPool& pool) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  over_runs(d, pool, [&](int64_t begin, const ptrdiff_t* at, int64_t count) HWY_ATTR {
    const Along from(x, at[1], d.stride[1][0]);
    const Along least(low, at[2], d.stride[2][0], -kInfinity);
    const Along most(high, at[3], d.stride[3][0], kInfinity);
    const float* const up = dy + begin;
    float* const to = dx + begin;
    over_vectors(0, count, [=](auto io, int64_t i) HWY_ATTR {
      const Vec value = from(io, i);
      const Vec bottom = least(io, i);
      const Vec top = most(io, i);
      const auto below = hn::Lt(value, bottom);
      const auto above = hn::Gt(value, top);
      const Vec whole = io.load(up, i);
      if constexpr (kInput == 0) {
        const auto inside = hn::And(hn::Ge(value, bottom), hn::Le(value, top));
        io.store(hn::IfThenElseZero(inside, whole), to, i);
      } else if constexpr (kInput == 1) {
        io.store(hn::IfThenElseZero(hn::And(below, hn::Lt(bottom, top)), whole), to, i);
      } else {
        io.store(hn::IfThenElseZero(hn::Or(above, hn::Lt(top, bottom)), whole), to, i);
      }
    });
  });
}

void clamp_grad_target(float* dx, const float* dy, const float* x, const float* low,
                       const float* high, const nary_dims& d, parallel::ThreadPool& pool) {
  if (d.choice == 0) {
    grad_by<0>(dx, dy, x, low, high, d, pool);
  } else if (d.choice == 1) {
    grad_by<1>(dx, dy, x, low, high, d, pool);
  } else {
    grad_by<2>(dx, dy, x, low, high, d, pool);
  }
}

}  // namespace thimble::ops::clamp_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::clamp_impl {
HWY_EXPORT(clamp_target);
HWY_EXPORT(clamp_grad_target);

void clamp_simd(float* y, const float* x, const float* low, const float* high, const nary_dims* d,
                parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(clamp_target)(y, x, low, high, *d, pool);
}

void clamp_grad_simd(float* dx, const float* dy, const float* x, const float* low,
                     const float* high, const nary_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(clamp_grad_target)(dx, dy, x, low, high, *d, pool);
}

}  // namespace thimble::ops::clamp_impl
#endif
