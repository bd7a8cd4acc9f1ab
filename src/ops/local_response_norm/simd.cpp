// A row's squares are stored between zeros in scratch memory, so that every window is a sum of
// shifted vectors.

#include <hwy/highway.h>

#include <algorithm>

#include "ir/op_def.h"
#include "ops/families/kernel/rows-inl.h"
#include "ops/local_response_norm/dims.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_LOCAL_RESPONSE_NORM_ONCE_
#define THIMBLE_OPS_LOCAL_RESPONSE_NORM_ONCE_
namespace thimble::ops::local_response_norm_impl {

inline constexpr int64_t kResponseTask = 8192;  // elements per task

// Floats of a row including `before + after` zeros.
inline int64_t padded_row(const local_response_norm_dims& d) {
  return simd::round_up(int64_t{d.channels} + 2 * (int64_t{d.before} + d.after), 16);
}

inline int64_t response_rows(const local_response_norm_dims& d) {
  return std::max<int64_t>(1, kResponseTask / std::max(1, d.channels));
}

}  // namespace thimble::ops::local_response_norm_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::local_response_norm_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// s^-beta for s > 0; the paper's exponent, 3/4, takes two square roots.
HWY_INLINE Vec negative_power(Vec s, float beta) {
  const F32 f;
  if (beta == 0.75F) {
    const Vec root = hn::Sqrt(s);
    return hn::Div(hn::Set(f, 1.0F), hn::Mul(root, hn::Sqrt(root)));
  }
  return hn::Exp(f, hn::Mul(hn::Set(f, -beta), hn::Log(f, s)));
}

// s = k + scale * (sum of squares over the window). squares points at channel 0 of a padded row.
HWY_INLINE Vec response(const auto& io, const float* squares, int64_t c,
                        const local_response_norm_dims& d) {
  const F32 f;
  Vec sum = hn::Zero(f);
  for (int j = -d.before; j <= d.after; ++j) sum = hn::Add(sum, io.load(squares + j, c));
  return hn::MulAdd(hn::Set(f, static_cast<float>(d.scale)), sum,
                    hn::Set(f, static_cast<float>(d.k)));
}

void local_response_norm_target(float* y, const float* x, float* scratch,
                                const local_response_norm_dims& d, parallel::ThreadPool& pool) {
  const int n = d.channels;
  const int64_t padded = padded_row(d);
  const int64_t each = response_rows(d);
  pool.run_with_worker((d.rows + each - 1) / each, [&](int64_t task, int worker) HWY_ATTR {
    float* const row = scratch + 2 * worker * padded;
    std::fill(row, row + padded, 0.0F);
    float* const squares = row + d.before + d.after;
    const int64_t end = std::min<int64_t>(d.rows, (task + 1) * each);
    for (int64_t r = task * each; r < end; ++r) {
      const float* from = x + r * n;
      float* to = y + r * n;
      over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
        const Vec value = io.load(from, i);
        io.store(hn::Mul(value, value), squares, i);
      });
      over_vectors(0, n, [=, &d](auto io, int64_t i) HWY_ATTR {
        const Vec s = response(io, squares, i, d);
        io.store(hn::Mul(io.load(from, i), negative_power(s, static_cast<float>(d.beta))), to, i);
      });
    }
  });
}

void local_response_norm_grad_target(float* dx, const float* dy, const float* x, float* scratch,
                                     const local_response_norm_dims& d,
                                     parallel::ThreadPool& pool) {
  const int n = d.channels;
  const int64_t padded = padded_row(d);
  const int64_t each = response_rows(d);
  const float slope = static_cast<float>(-2.0 * d.beta * d.scale);
  pool.run_with_worker((d.rows + each - 1) / each, [&](int64_t task, int worker) HWY_ATTR {
    float* const row = scratch + 2 * worker * padded;
    std::fill(row, row + 2 * padded, 0.0F);
    float* const squares = row + d.before + d.after;
    float* const terms = squares + padded;
    const int64_t end = std::min<int64_t>(d.rows, (task + 1) * each);
    for (int64_t r = task * each; r < end; ++r) {
      const float* from = x + r * n;
      const float* up = dy + r * n;
      float* to = dx + r * n;
      over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
        const Vec value = io.load(from, i);
        io.store(hn::Mul(value, value), squares, i);
      });
      over_vectors(0, n, [=, &d](auto io, int64_t i) HWY_ATTR {
        const Vec s = response(io, squares, i, d);
        const Vec direct = hn::Mul(io.load(up, i), negative_power(s, static_cast<float>(d.beta)));
        io.store(direct, to, i);
        io.store(hn::Div(hn::Mul(direct, io.load(from, i)), s), terms, i);
      });
      over_vectors(0, n, [=, &d](auto io, int64_t i) HWY_ATTR {
        Vec sum = hn::Zero(F32());
        for (int j = -d.after; j <= d.before; ++j) sum = hn::Add(sum, io.load(terms + j, i));
        const Vec through = hn::Mul(hn::Mul(hn::Set(F32(), slope), io.load(from, i)), sum);
        io.store(hn::Add(io.load(to, i), through), to, i);
      });
    }
  });
}

}  // namespace thimble::ops::local_response_norm_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::local_response_norm_impl {
HWY_EXPORT(local_response_norm_target);
HWY_EXPORT(local_response_norm_grad_target);

int64_t local_response_norm_workspace(const ir::Params& params, int threads) {
  const int64_t floats = 2 * threads * padded_row(params.as<local_response_norm_dims>());
  return floats * static_cast<int64_t>(sizeof(float));
}

void local_response_norm_simd(float* y, const float* x, void* workspace,
                              const local_response_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(local_response_norm_target)(y, x, static_cast<float*>(workspace), *d, pool);
}

void local_response_norm_grad_simd(float* dx, const float* dy, const float* x, void* workspace,
                                   const local_response_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(local_response_norm_grad_target)
  (dx, dy, x, static_cast<float*>(workspace), *d, pool);
}

}  // namespace thimble::ops::local_response_norm_impl
#endif
