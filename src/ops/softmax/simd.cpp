#include "ops/softmax/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/softmax/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

void softmax_target(float* y, const float* x, const axis_dims& d, exec::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  over_rows(d.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const float* from = x + r * n;
    float* to = y + r * n;
    const Vec largest = hn::Set(f, row_max(from, n));
    const float sum = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec value = exp_of_negative(hn::Sub(io.load(from, i), largest));
      io.store(value, to, i);
      return value;
    });
    const Vec divisor = hn::Set(f, sum);
    over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Div(io.load(to, i), divisor), to, i);
    });
  });
}

void softmax_grad_target(float* dx, const float* dy, const float* y, const axis_dims& d,
                         exec::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  over_rows(d.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const int64_t at = r * n;
    const Vec sum = hn::Set(f, row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
                              return hn::Mul(io.load(dy + at, i), io.load(y + at, i));
                            }));
    over_vectors(at, at + n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Mul(io.load(y, i), hn::Sub(io.load(dy, i), sum)), dx, i);
    });
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(softmax_target);
HWY_EXPORT(softmax_grad_target);

void softmax_simd(float* y, const float* x, const axis_dims* d, exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(softmax_target)(y, x, *d, pool);
}

void softmax_grad_simd(float* dx, const float* dy, const float* y, const axis_dims* d,
                       exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(softmax_grad_target)(dx, dy, y, *d, pool);
}

}  // namespace thimble::ops
#endif
