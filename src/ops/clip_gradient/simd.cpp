#include <hwy/highway.h>

#include "ops/clip_gradient/dims.h"
#include "ops/families/kernel/elements-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::clip_gradient_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The sum of the squares of x[0, n).
float sum_of_tile(const float* x, int64_t n) {
  const F32 f;
  Vec sums[4] = {hn::Zero(f), hn::Zero(f), hn::Zero(f), hn::Zero(f)};
  int64_t i = 0;
  for (; i + 4 * lanes() <= n; i += 4 * lanes()) {
    for (int k = 0; k < 4; ++k) {
      const Vec v = hn::LoadU(f, x + i + k * lanes());
      sums[k] = hn::MulAdd(v, v, sums[k]);
    }
  }
  for (; i < n; i += lanes()) {
    const int left = static_cast<int>(std::min<int64_t>(lanes(), n - i));
    const Vec v = LastVector(left).load(x, i);
    sums[0] = hn::MulAdd(v, v, sums[0]);
  }
  const Vec sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(f, sum));
}

void sum_squares_target(float* y, const float* x, const float* previous, double* tile_sums,
                        const clip_dims* d, parallel::ThreadPool& pool) {
  const int64_t tiles = (d->n + kTileElements - 1) / kTileElements;
  pool.run(tiles, [&](int64_t tile) {
    const int64_t begin = tile * kTileElements;
    tile_sums[tile] = sum_of_tile(x + begin, std::min<int64_t>(kTileElements, d->n - begin));
  });
  // Added in order, so that the bits do not depend on the order in which threads finish.
  double sum = previous == nullptr ? 0.0 : static_cast<double>(*previous);
  for (int64_t tile = 0; tile < tiles; ++tile) sum += tile_sums[tile];
  *y = static_cast<float>(sum);
}

void clip_by_norm_target(float* y, const float* grad, const float* squares, const clip_dims* d,
                         parallel::ThreadPool& pool) {
  const F32 f;
  const Vec factor =
      hn::Set(f, static_cast<float>(clip_norm_factor(d, static_cast<double>(*squares))));
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    io.store(hn::Mul(factor, io.load(grad, i)), y, i);
  });
}

void clip_by_value_target(float* y, const float* grad, const clip_dims* d,
                          parallel::ThreadPool& pool) {
  const Vec high = hn::Set(F32(), static_cast<float>(d->limit));
  const Vec low = hn::Neg(high);
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    // Uses comparisons, because Min and Max may lose a NaN.
    const Vec g = io.load(grad, i);
    const Vec above = hn::IfThenElse(hn::Gt(g, high), high, g);
    io.store(hn::IfThenElse(hn::Lt(g, low), low, above), y, i);
  });
}

}  // namespace thimble::ops::clip_gradient_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::clip_gradient_impl {
HWY_EXPORT(sum_squares_target);
HWY_EXPORT(clip_by_norm_target);
HWY_EXPORT(clip_by_value_target);

int64_t sum_squares_workspace_bytes(const clip_dims& d) {
  constexpr int64_t kTile = HWY_STATIC_DISPATCH(kTileElements);
  return (d.n + kTile - 1) / kTile * static_cast<int64_t>(sizeof(double));
}

void sum_squares_simd(float* y, const float* x, const float* previous, void* workspace,
                      const clip_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(sum_squares_target)
  (y, x, previous, static_cast<double*>(workspace), d, pool);
}

void clip_by_norm_simd(float* y, const float* grad, const float* squares, const clip_dims* d,
                       parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(clip_by_norm_target)(y, grad, squares, d, pool);
}

void clip_by_value_simd(float* y, const float* grad, const clip_dims* d,
                        parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(clip_by_value_target)(y, grad, d, pool);
}

}  // namespace thimble::ops::clip_gradient_impl
#endif
