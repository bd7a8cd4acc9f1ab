#include "ops/log_softmax/simd.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/log_softmax/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

void log_softmax_target(float* y, const float* x, const axis_dims& d, exec::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  over_rows(d.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const float* from = x + r * n;
    float* to = y + r * n;
    const float largest = row_max(from, n);
    const Vec shift = hn::Set(f, largest);
    const float sum = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      return exp_of_negative(hn::Sub(io.load(from, i), shift));
    });
    const Vec rest = hn::Set(f, std::log(sum));
    over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Sub(hn::Sub(io.load(from, i), shift), rest), to, i);
    });
  });
}

void log_softmax_grad_target(float* dx, const float* dy, const float* y, const axis_dims& d,
                             exec::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  over_rows(d.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const int64_t at = r * n;
    const Vec sum =
        hn::Set(f, row_sum(n, [&](auto io, int64_t i) HWY_ATTR { return io.load(dy + at, i); }));
    over_vectors(at, at + n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec share = exp_of_negative(io.load(y, i));
      io.store(hn::NegMulAdd(share, sum, io.load(dy, i)), dx, i);
    });
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(log_softmax_target);
HWY_EXPORT(log_softmax_grad_target);

void log_softmax_simd(float* y, const float* x, const axis_dims* d, exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(log_softmax_target)(y, x, *d, pool);
}

void log_softmax_grad_simd(float* dx, const float* dy, const float* y, const axis_dims* d,
                           exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(log_softmax_grad_target)(dx, dy, y, *d, pool);
}

}  // namespace thimble::ops
#endif
