// Reads dy and x twice: once for the sums of every channel, once for dx = scale * dy + slope * (x -
// mean) + offset, whose constants follow from the sums.

#include <hwy/highway.h>

#include <cmath>

#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/norm/channel_rows-inl.h"
#include "ops/families/norm/narrow_channels.h"

#ifndef THIMBLE_OPS_BATCH_NORM_GRAD_ONCE_
#define THIMBLE_OPS_BATCH_NORM_GRAD_ONCE_
namespace thimble::ops::batch_norm_grad_impl {

struct BatchNormGradScratch {
  float* sums;      // [blocks, channels]: sums of dy
  float* products;  // [blocks, channels]: sums of dy * (x - mean)
  float* mean;      // mean and constants along a wide row
  float* scale;
  float* slope;
  float* offset;
  float* own;  // for the first thread: sums along a wide row
  int64_t own_distance;
};

inline BatchNormGradScratch carve_batch_norm_grad(simd::Workspace& workspace, const ChannelRows& r,
                                                  int threads) {
  BatchNormGradScratch s{};
  s.sums = workspace.take<float>(r.blocks * r.channels);
  s.products = workspace.take<float>(r.blocks * r.channels);
  s.mean = workspace.take<float>(r.width);
  s.scale = workspace.take<float>(r.width);
  s.slope = workspace.take<float>(r.width);
  s.offset = workspace.take<float>(r.width);
  s.own_distance = simd::round_up(r.width, 16);
  s.own = workspace.take<float>(s.own_distance * threads);
  return s;
}

inline double sum_of_blocks(const float* blocks, int channel, const ChannelRows& r) {
  double sum = 0.0;
  for (int64_t b = 0; b < r.blocks; ++b) sum += blocks[b * r.channels + channel];
  return sum;
}

}  // namespace thimble::ops::batch_norm_grad_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::batch_norm_grad_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

template <class To, class From>
void gradients(To dx, float* dgamma, float* dbeta, From dy, From x, const float* mean,
               const float* variance, const float* gamma, const BatchNormGradScratch& s,
               const batch_norm_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.rows, d.channels);
  widen(s.mean, mean, r);
  pool.run_with_worker(r.blocks, [&](int64_t i, int worker) {
    const ChannelBlock block = channel_block(r, i);
    block_sums(s.sums + i * r.channels, s.products + i * r.channels, dy + block.first,
               x + block.first, s.mean, s.own + worker * s.own_distance, r, block);
  });
  const double count = std::max(1, d.rows);
  for (int c = 0; c < r.channels; ++c) {
    const double inverse = 1.0 / std::sqrt(static_cast<double>(variance[c]) + d.epsilon);
    const double scale = (gamma ? gamma[c] : 1.0) * inverse;
    const double sum = sum_of_blocks(s.sums, c, r);
    const double product = sum_of_blocks(s.products, c, r) * inverse;
    dbeta[c] = static_cast<float>(sum);
    dgamma[c] = static_cast<float>(product);
    for (int at = c; at < r.width; at += r.channels) {
      s.scale[at] = static_cast<float>(scale);
      s.slope[at] = static_cast<float>(-scale * inverse * product / count);
      s.offset[at] = static_cast<float>(-scale * sum / count);
    }
  }
  pool.run(r.blocks, [&](int64_t i) {
    const ChannelBlock block = channel_block(r, i);
    block_dx(dx + block.first, dy + block.first, x + block.first,
             {s.mean, s.scale, s.slope, s.offset}, block, r.width);
  });
}

void batch_norm_grad_target(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                            const float* mean, const float* variance, const float* gamma,
                            void* workspace, const batch_norm_dims& d, parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  const auto s = carve_batch_norm_grad(pieces, channel_rows(d.rows, d.channels), pool.threads());
  gradients(dx, dgamma, dbeta, dy, x, mean, variance, gamma, s, d, pool);
}

template <class Type>
void of_16_bits(uint16_t* dx, float* dgamma, float* dbeta, const uint16_t* dy, const uint16_t* x,
                const float* mean, const float* variance, const float* gamma,
                const BatchNormGradScratch& s, const batch_norm_dims& d,
                parallel::ThreadPool& pool) {
  using Values = simd::HWY_NAMESPACE::ConstNarrow<Type>;
  gradients(simd::HWY_NAMESPACE::Narrow<Type>{dx}, dgamma, dbeta, Values{dy}, Values{x}, mean,
            variance, gamma, s, d, pool);
}

void batch_norm_grad_16bit_target(uint16_t* dx, float* dgamma, float* dbeta, const uint16_t* dy,
                                  const uint16_t* x, const float* mean, const float* variance,
                                  const float* gamma, bool brain, const BatchNormGradScratch& s,
                                  const batch_norm_dims& d, parallel::ThreadPool& pool) {
  const auto run = brain ? of_16_bits<simd::HWY_NAMESPACE::BrainFloat>
                         : of_16_bits<simd::HWY_NAMESPACE::HalfFloat>;
  run(dx, dgamma, dbeta, dy, x, mean, variance, gamma, s, d, pool);
}

}  // namespace thimble::ops::batch_norm_grad_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::batch_norm_grad_impl {
HWY_EXPORT(batch_norm_grad_target);
HWY_EXPORT(batch_norm_grad_16bit_target);

namespace {

struct NarrowScratch {
  BatchNormGradScratch own;
  NarrowChannels channels;  // mean, variance and gamma in f32
};

NarrowScratch carve_narrow(simd::Workspace& workspace, const batch_norm_dims& d, int threads) {
  NarrowScratch s;
  s.own = carve_batch_norm_grad(workspace, channel_rows(d.rows, d.channels), threads);
  s.channels = NarrowChannels(workspace, d.channels);
  return s;
}

}  // namespace

int64_t batch_norm_grad_16bit_workspace_bytes(const batch_norm_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_narrow(counter, d, threads);
  return counter.bytes();
}

void batch_norm_grad_16bit(const ir::KernelCall& call) {
  const NarrowCall narrow(call);
  const auto& d = narrow.params<batch_norm_dims>();
  simd::Workspace pieces(call.workspace);
  NarrowScratch s = carve_narrow(pieces, d, call.pool->threads());
  const float* const mean = s.channels.input(narrow, 2);
  const float* const variance = s.channels.input(narrow, 3);
  const float* const gamma = s.channels.input(narrow, 4);
  HWY_DYNAMIC_DISPATCH(batch_norm_grad_16bit_target)
  (static_cast<uint16_t*>(call.outputs[0]), static_cast<float*>(call.outputs[1]),
   static_cast<float*>(call.outputs[2]), static_cast<const uint16_t*>(call.inputs[0]),
   static_cast<const uint16_t*>(call.inputs[1]), mean, variance, gamma, narrow.is_brain(0), s.own,
   d, *call.pool);
}

int64_t batch_norm_grad_workspace_bytes(const batch_norm_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_batch_norm_grad(counter, channel_rows(d.rows, d.channels), threads);
  return counter.bytes();
}

void batch_norm_grad_simd(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                          const float* mean, const float* variance, const float* gamma,
                          void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(batch_norm_grad_target)
  (dx, dgamma, dbeta, dy, x, mean, variance, gamma, workspace, *d, pool);
}

}  // namespace thimble::ops::batch_norm_grad_impl
#endif
