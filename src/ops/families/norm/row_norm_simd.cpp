#include "ops/families/norm/row_norm.h"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "ops/families/kernel/rows-inl.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_COMMON_ROW_NORM_ONCE_
#define THIMBLE_OPS_COMMON_ROW_NORM_ONCE_
namespace thimble::ops {

// Rows per block of the gradient, and the number of blocks. Blocks are few, so that adding their
// sums costs little; both depend on sizes alone.
struct RowBlocks {
  int64_t rows;
  int64_t count;
};
inline RowBlocks row_blocks(const row_norm_dims& d) {
  constexpr int64_t kMostBlocks = 64;
  constexpr int64_t kLeastValues = 8192;
  const int64_t least = simd::divide_up(kLeastValues, std::max(d.size, 1));
  const int64_t rows = std::max(least, simd::divide_up(d.rows, kMostBlocks));
  return {rows, simd::divide_up(d.rows, rows)};
}

// Columns per task that adds the sums of blocks.
inline constexpr int kColumns = 256;

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The sum of term(io, i) over a row, in four accumulators.
template <class Term>
HWY_INLINE float long_row_sum(int n, const Term& term) {
  const F32 f;
  Vec sum0 = hn::Zero(f);
  Vec sum1 = sum0;
  Vec sum2 = sum0;
  Vec sum3 = sum0;
  const WholeVectors io;
  int i = 0;
  for (; i + 4 * lanes() <= n; i += 4 * lanes()) {
    sum0 = hn::Add(sum0, term(io, i));
    sum1 = hn::Add(sum1, term(io, i + lanes()));
    sum2 = hn::Add(sum2, term(io, i + 2 * lanes()));
    sum3 = hn::Add(sum3, term(io, i + 3 * lanes()));
  }
  for (; i + lanes() <= n; i += lanes()) sum0 = hn::Add(sum0, term(io, i));
  if (i < n) {
    const LastVector last(n - i);
    sum1 = hn::Add(sum1, last.present(term(last, i), hn::Zero(f)));
  }
  return hn::GetLane(hn::SumOfLanes(f, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

// y of one row from its statistics. gamma, beta: may be null.
HWY_INLINE void scale_row(float* y, const float* x, float center, float rstd, const float* gamma,
                          const float* beta, int n) {
  const F32 f;
  const Vec middle = hn::Set(f, center);
  const Vec scale = hn::Set(f, rstd);
  over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
    Vec value = hn::Mul(hn::Sub(io.load(x, i), middle), scale);
    if (gamma != nullptr) value = hn::Mul(value, io.load(gamma, i));
    if (beta != nullptr) value = hn::Add(value, io.load(beta, i));
    io.store(value, y, i);
  });
}

// kCentered: whether the mean is subtracted (layer_norm) or not (rms_norm).
template <bool kCentered>
void row_norm(float* y, float* mean, float* rstd, const float* x, const float* gamma,
              const float* beta, const row_norm_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  const float per_value = 1.0F / static_cast<float>(std::max(n, 1));
  over_rows(d.rows, n, pool, [&](int64_t r) HWY_ATTR {
    const float* from = x + r * n;
    float center = 0.0F;
    if constexpr (kCentered) {
      center = per_value *
               long_row_sum(n, [&](auto io, int64_t i) HWY_ATTR { return io.load(from, i); });
      mean[r] = center;
    }
    const Vec middle = hn::Set(f, center);
    const float squares = per_value * long_row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
                            const Vec off = hn::Sub(io.load(from, i), middle);
                            return hn::Mul(off, off);
                          });
    rstd[r] = 1.0F / std::sqrt(squares + d.epsilon);
    scale_row(y + r * n, from, center, rstd[r], gamma, beta, n);
  });
}

// Recomputes y from the statistics; a null mean stands for 0.
void scale_rows_target(float* y, const float* x, const float* gamma, const float* beta,
                       const float* mean, const float* rstd, const row_norm_dims& d,
                       parallel::ThreadPool& pool) {
  const int n = d.size;
  over_rows(d.rows, n, pool, [&](int64_t r) HWY_ATTR {
    const float center = mean == nullptr ? 0.0F : mean[r];
    scale_row(y + r * n, x + r * n, center, rstd[r], gamma, beta, n);
  });
}

// dx of one row; adds the row's terms to the sums of dgamma and dbeta (may be null).
template <bool kCentered>
HWY_INLINE void row_norm_grad_row(float* dx, float* dgamma, float* dbeta, const float* dy,
                                  const float* x, float center, float rstd, const float* gamma,
                                  int n) {
  const F32 f;
  const Vec middle = hn::Set(f, center);
  const Vec scale = hn::Set(f, rstd);
  Vec sum = hn::Zero(f);
  Vec product = hn::Zero(f);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    const Vec xhat = hn::Mul(hn::Sub(io.load(x, i), middle), scale);
    const Vec up = io.load(dy, i);
    const Vec by_gamma = hn::Mul(up, xhat);
    io.store(hn::Add(io.load(dgamma, i), by_gamma), dgamma, i);
    const Vec g = gamma != nullptr ? hn::Mul(up, io.load(gamma, i)) : up;
    if constexpr (kCentered) {
      io.store(hn::Add(io.load(dbeta, i), up), dbeta, i);
      sum = hn::Add(sum, io.present(g, hn::Zero(f)));
    }
    product = hn::MulAdd(io.present(g, hn::Zero(f)), xhat, product);
  });
  const float per_value = 1.0F / static_cast<float>(n);
  const Vec tilt = hn::Set(f, per_value * hn::GetLane(hn::SumOfLanes(f, product)));
  const Vec offset = hn::Set(f, per_value * hn::GetLane(hn::SumOfLanes(f, sum)));
  over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
    const Vec xhat = hn::Mul(hn::Sub(io.load(x, i), middle), scale);
    const Vec up = io.load(dy, i);
    const Vec g = gamma != nullptr ? hn::Mul(up, io.load(gamma, i)) : up;
    io.store(hn::Mul(scale, hn::NegMulAdd(xhat, tilt, hn::Sub(g, offset))), dx, i);
  });
}

// sums[i] = the sum over blocks of parts[block, i].
void add_blocks(float* sums, const float* parts, int64_t blocks, int n,
                parallel::ThreadPool& pool) {
  pool.run((n + kColumns - 1) / kColumns, [&](int64_t task) HWY_ATTR {
    const int64_t begin = task * kColumns;
    over_vectors(begin, std::min<int64_t>(n, begin + kColumns), [=](auto io, int64_t i) HWY_ATTR {
      Vec sum = hn::Zero(F32());
      for (int64_t b = 0; b < blocks; ++b) sum = hn::Add(sum, io.load(parts + b * n, i));
      io.store(sum, sums, i);
    });
  });
}

template <bool kCentered>
void row_norm_grad(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                   const float* mean, const float* rstd, const float* gamma, void* workspace,
                   const row_norm_dims& d, parallel::ThreadPool& pool) {
  const int n = d.size;
  const RowBlocks blocks = row_blocks(d);
  simd::Workspace pieces(workspace);
  float* const gammas = pieces.take<float>(blocks.count * n);
  float* const betas = pieces.take<float>(blocks.count * n);
  pool.run(blocks.count, [&](int64_t b) HWY_ATTR {
    float* const block_gamma = gammas + b * n;
    float* const block_beta = betas + b * n;
    std::fill(block_gamma, block_gamma + n, 0.0F);
    if constexpr (kCentered) std::fill(block_beta, block_beta + n, 0.0F);
    const int64_t end = std::min<int64_t>(d.rows, (b + 1) * blocks.rows);
    for (int64_t r = b * blocks.rows; n > 0 && r < end; ++r) {
      row_norm_grad_row<kCentered>(dx + r * n, block_gamma, block_beta, dy + r * n, x + r * n,
                                   kCentered ? mean[r] : 0.0F, rstd[r], gamma, n);
    }
  });
  add_blocks(dgamma, gammas, blocks.count, n, pool);
  if constexpr (kCentered) add_blocks(dbeta, betas, blocks.count, n, pool);
}

void layer_norm_target(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                       const float* beta, const row_norm_dims& d, parallel::ThreadPool& pool) {
  row_norm<true>(y, mean, rstd, x, gamma, beta, d, pool);
}
void rms_norm_target(float* y, float* rstd, const float* x, const float* gamma,
                     const row_norm_dims& d, parallel::ThreadPool& pool) {
  row_norm<false>(y, nullptr, rstd, x, gamma, nullptr, d, pool);
}
void layer_norm_grad_target(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                            const float* mean, const float* rstd, const float* gamma,
                            void* workspace, const row_norm_dims& d, parallel::ThreadPool& pool) {
  row_norm_grad<true>(dx, dgamma, dbeta, dy, x, mean, rstd, gamma, workspace, d, pool);
}
void rms_norm_grad_target(float* dx, float* dgamma, const float* dy, const float* x,
                          const float* rstd, const float* gamma, void* workspace,
                          const row_norm_dims& d, parallel::ThreadPool& pool) {
  row_norm_grad<false>(dx, dgamma, nullptr, dy, x, nullptr, rstd, gamma, workspace, d, pool);
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(layer_norm_target);
HWY_EXPORT(rms_norm_target);
HWY_EXPORT(scale_rows_target);
HWY_EXPORT(layer_norm_grad_target);
HWY_EXPORT(rms_norm_grad_target);

Shape last_dims(const Shape& x, int64_t dims) {
  return Shape(std::vector<int64_t>(x.dims().end() - dims, x.dims().end()));
}

Shape first_dims(const Shape& x, int64_t dims) {
  return Shape(std::vector<int64_t>(x.dims().begin(), x.dims().end() - dims));
}

void check_row_norm(const ir::InferContext& c, int i, int64_t dims) {
  c.require(dims >= 1 && dims <= c.shape(i).rank(),
            fmt::format("expected x with at least the {} dimensions to normalise, and at least 1 "
                        "of them",
                        dims));
}

void check_same_shape(const ir::InferContext& c, int first, int last, const Shape& shape) {
  for (int i = first; i <= last; ++i) {
    if (!c.has(i)) continue;
    if (c.shape(i) != shape) {
      c.fail(fmt::format("expected {} of shape {}",
                         c.op.signature.inputs[static_cast<size_t>(i)].name, to_string(shape)));
    }
  }
}

row_norm_dims row_norm_sizes(const Shape& x, int64_t dims, double epsilon) {
  return {static_cast<int>(first_dims(x, dims).elements()),
          static_cast<int>(last_dims(x, dims).elements()), static_cast<float>(epsilon)};
}

int64_t row_norm_grad_workspace(const ir::Params& params, int /*threads*/) {
  const auto d = params.as<row_norm_dims>();
  simd::Workspace counter(nullptr);
  counter.take<float>(row_blocks(d).count * d.size);
  counter.take<float>(row_blocks(d).count * d.size);
  return counter.bytes();
}

void layer_norm_simd(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                     const float* beta, const row_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(layer_norm_target)(y, mean, rstd, x, gamma, beta, *d, pool);
}

void rms_norm_simd(float* y, float* rstd, const float* x, const float* gamma,
                   const row_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rms_norm_target)(y, rstd, x, gamma, *d, pool);
}

void layer_norm_apply_simd(float* y, const float* x, const float* gamma, const float* beta,
                           const float* mean, const float* rstd, const row_norm_dims* d,
                           parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(scale_rows_target)(y, x, gamma, beta, mean, rstd, *d, pool);
}

void rms_norm_apply_simd(float* y, const float* x, const float* gamma, const float* rstd,
                         const row_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(scale_rows_target)(y, x, gamma, nullptr, nullptr, rstd, *d, pool);
}

void layer_norm_grad_simd(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                          const float* mean, const float* rstd, const float* gamma, void* workspace,
                          const row_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(layer_norm_grad_target)
  (dx, dgamma, dbeta, dy, x, mean, rstd, gamma, workspace, *d, pool);
}

void rms_norm_grad_simd(float* dx, float* dgamma, const float* dy, const float* x,
                        const float* rstd, const float* gamma, void* workspace,
                        const row_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rms_norm_grad_target)(dx, dgamma, dy, x, rstd, gamma, workspace, *d, pool);
}

}  // namespace thimble::ops
#endif
