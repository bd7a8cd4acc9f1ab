#include <hwy/highway.h>

#include <cmath>

#include "ops/families/kernel/rows-inl.h"
#include "ops/normalize/dims.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::normalize_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void normalize_target(float* y, float* norm, const float* x, const normalize_dims& d,
                      parallel::ThreadPool& pool) {
  const int n = d.along.size;
  const float least = static_cast<float>(d.epsilon);
  over_rows(d.along.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const float* from = x + r * n;
    float* to = y + r * n;
    norm[r] = std::sqrt(row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec value = io.load(from, i);
      return hn::Mul(value, value);
    }));
    const Vec divisor = hn::Set(F32(), norm[r] <= least ? least : norm[r]);  // NaN stays
    over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Div(io.load(from, i), divisor), to, i);
    });
  });
}

void normalize_grad_target(float* dx, const float* dy, const float* y, const float* norm,
                           const normalize_dims& d, parallel::ThreadPool& pool) {
  const int n = d.along.size;
  const float least = static_cast<float>(d.epsilon);
  over_rows(d.along.outer, n, pool, [&](int64_t r) HWY_ATTR {
    const float* up = dy + r * n;
    const float* from = y + r * n;
    float* to = dx + r * n;
    const bool whole = !(norm[r] <= least);
    const float product = row_sum(
        n, [&](auto io, int64_t i) HWY_ATTR { return hn::Mul(io.load(up, i), io.load(from, i)); });
    const Vec sum = hn::Set(F32(), whole ? product : 0.0F);
    const Vec divisor = hn::Set(F32(), whole ? norm[r] : least);
    over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Div(hn::NegMulAdd(io.load(from, i), sum, io.load(up, i)), divisor), to, i);
    });
  });
}

}  // namespace thimble::ops::normalize_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::normalize_impl {
HWY_EXPORT(normalize_target);
HWY_EXPORT(normalize_grad_target);

void normalize_simd(float* y, float* norm, const float* x, const normalize_dims* d,
                    parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(normalize_target)(y, norm, x, *d, pool);
}

void normalize_grad_simd(float* dx, const float* dy, const float* y, const float* norm,
                         const normalize_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(normalize_grad_target)(dx, dy, y, norm, *d, pool);
}

}  // namespace thimble::ops::normalize_impl
#endif
