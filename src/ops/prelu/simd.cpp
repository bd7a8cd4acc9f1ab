#include <hwy/highway.h>

#include "ir/op_def.h"
#include "ops/families/norm/channel_rows-inl.h"
#include "ops/families/reduction/axis_dims.h"
#include "parallel/thread_pool.h"

#ifndef THIMBLE_OPS_PRELU_ONCE_
#define THIMBLE_OPS_PRELU_ONCE_
namespace thimble::ops::prelu_impl {

struct PreluScratch {
  float* wide;  // weights along a wide row
  float* sums;  // [blocks, channels]
  float* own;   // for the first thread: sums along a wide row
  int64_t own_distance;
};

inline PreluScratch carve_prelu(simd::Workspace& pieces, const ChannelRows& r, int threads,
                                bool gradient) {
  PreluScratch s{};
  s.wide = pieces.take<float>(r.width);
  s.own_distance = simd::round_up(r.width, 16);
  if (!gradient) return s;
  s.sums = pieces.take<float>(r.blocks * r.channels);
  s.own = pieces.take<float>(s.own_distance * threads);
  return s;
}

}  // namespace thimble::ops::prelu_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::prelu_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// value where x > 0, else slope * value.
HWY_INLINE Vec by_slope(Vec x, Vec value, Vec slope) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(F32())), value, hn::Mul(slope, value));
}

void prelu_target(float* y, const float* x, const float* weight, void* workspace,
                  const axis_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.outer, d.size);
  simd::Workspace pieces(workspace);
  const PreluScratch s = carve_prelu(pieces, r, pool.threads(), false);
  widen(s.wide, weight, r);
  const float* wide = s.wide;
  pool.run(r.blocks, [&](int64_t i) {
    const ChannelBlock block = channel_block(r, i);
    const float* from = x + block.first;
    map_rows(
        y + block.first,
        [from, wide](const auto& outer, int column) HWY_ATTR {
          const Vec slope = outer(wide + column);
          return [from, slope](const auto& load, ptrdiff_t at) HWY_ATTR {
            const Vec value = load(from + at);
            return by_slope(value, value, slope);
          };
        },
        block, r.width);
  });
}

void prelu_grad_target(float* dx, float* dweight, const float* dy, const float* x,
                       const float* weight, void* workspace, const axis_dims& d,
                       parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.outer, d.size);
  simd::Workspace pieces(workspace);
  const PreluScratch s = carve_prelu(pieces, r, pool.threads(), true);
  widen(s.wide, weight, r);
  const float* wide = s.wide;
  pool.run_with_worker(r.blocks, [&](int64_t i, int worker) {
    const ChannelBlock block = channel_block(r, i);
    const float* from = x + block.first;
    const float* up = dy + block.first;
    float* const sums = s.own + worker * s.own_distance;
    sum_rows(
        sums,
        [from, up](const auto&, int) HWY_ATTR {
          return [from, up](const auto& load, ptrdiff_t at) HWY_ATTR {
            const Vec value = load(from + at);
            return hn::IfThenZeroElse(hn::Gt(value, hn::Zero(F32())),
                                      hn::Mul(value, load(up + at)));
          };
        },
        block, r.width);
    fold_wide(s.sums + i * r.channels, sums, r);
    map_rows(
        dx + block.first,
        [from, up, wide](const auto& outer, int column) HWY_ATTR {
          const Vec slope = outer(wide + column);
          return [from, up, slope](const auto& load, ptrdiff_t at)
                     HWY_ATTR { return by_slope(load(from + at), load(up + at), slope); };
        },
        block, r.width);
  });
  for (int c = 0; c < d.size; ++c) {
    double sum = 0.0;
    for (int64_t b = 0; b < r.blocks; ++b) sum += s.sums[b * r.channels + c];
    dweight[c] = static_cast<float>(sum);
  }
}

}  // namespace thimble::ops::prelu_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::prelu_impl {
HWY_EXPORT(prelu_target);
HWY_EXPORT(prelu_grad_target);

namespace {

int64_t workspace_bytes(const ir::Params& params, int threads, bool gradient) {
  const auto d = params.as<axis_dims>();
  simd::Workspace counter(nullptr);
  carve_prelu(counter, channel_rows(d.outer, d.size), threads, gradient);
  return counter.bytes();
}

}  // namespace

int64_t prelu_workspace(const ir::Params& params, int threads) {
  return workspace_bytes(params, threads, false);
}

int64_t prelu_grad_workspace(const ir::Params& params, int threads) {
  return workspace_bytes(params, threads, true);
}

void prelu_simd(float* y, const float* x, const float* weight, void* workspace, const axis_dims* d,
                parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(prelu_target)(y, x, weight, workspace, *d, pool);
}

void prelu_grad_simd(float* dx, float* dweight, const float* dy, const float* x,
                     const float* weight, void* workspace, const axis_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(prelu_grad_target)(dx, dweight, dy, x, weight, workspace, *d, pool);
}

}  // namespace thimble::ops::prelu_impl
#endif
