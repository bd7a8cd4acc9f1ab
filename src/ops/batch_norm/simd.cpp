// Reads the tensor twice. A task computes the mean of its block and then the squared deviations
// from it, while the block is in the cache; the blocks' statistics are merged in double precision
// (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979). Large squares are never subtracted, so a mean far from 0 costs no accuracy.

#include <hwy/highway.h>

#include <cmath>

#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/norm/channel_rows-inl.h"
#include "ops/families/norm/narrow_channels.h"

#ifndef THIMBLE_OPS_BATCH_NORM_ONCE_
#define THIMBLE_OPS_BATCH_NORM_ONCE_
namespace thimble::ops::batch_norm_impl {

struct BatchNormScratch {
  float* mean;     // [blocks, channels]
  float* squares;  // [blocks, channels]: sums of squared deviations from the block's mean
  float* wide[3];  // mean, scale and shift along a wide row
  float* own[2];   // for the first thread: sums and mean along a wide row
  int64_t own_distance;
};

inline BatchNormScratch carve_batch_norm(simd::Workspace& workspace, const ChannelRows& r,
                                         int threads) {
  BatchNormScratch s{};
  s.mean = workspace.take<float>(r.blocks * r.channels);
  s.squares = workspace.take<float>(r.blocks * r.channels);
  for (float*& wide : s.wide) wide = workspace.take<float>(r.width);
  s.own_distance = simd::round_up(r.width, 16);
  for (float*& own : s.own) own = workspace.take<float>(s.own_distance * threads);
  return s;
}

inline void merge_blocks(float* mean, float* variance, const BatchNormScratch& s,
                         const ChannelRows& r, int rows) {
  for (int c = 0; c < r.channels; ++c) {
    double sum = 0.0;
    for (int64_t b = 0; b < r.blocks; ++b) {
      sum += static_cast<double>(channel_block(r, b).per_channel) * s.mean[b * r.channels + c];
    }
    const double center = rows > 0 ? sum / rows : 0.0;
    double squares = 0.0;
    for (int64_t b = 0; b < r.blocks; ++b) {
      const double off = s.mean[b * r.channels + c] - center;
      squares += s.squares[b * r.channels + c] +
                 static_cast<double>(channel_block(r, b).per_channel) * off * off;
    }
    mean[c] = static_cast<float>(center);
    variance[c] = static_cast<float>(rows > 0 ? squares / rows : 0.0);
  }
}

}  // namespace thimble::ops::batch_norm_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::batch_norm_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

template <class To, class From>
void normalise(To y, float* mean, float* variance, From x, const float* gamma, const float* beta,
               const BatchNormScratch& s, const batch_norm_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.rows, d.channels);
  pool.run_with_worker(r.blocks, [&](int64_t i, int worker) {
    const ChannelBlock block = channel_block(r, i);
    block_statistics(s.mean + i * r.channels, s.squares + i * r.channels, x + block.first,
                     s.own[0] + worker * s.own_distance, s.own[1] + worker * s.own_distance, r,
                     block);
  });
  merge_blocks(mean, variance, s, r, d.rows);
  if (r.blocks == 0) return;
  float* const scale = s.own[0];
  float* const shift = s.own[1];
  for (int c = 0; c < r.channels; ++c) {
    scale[c] = (gamma ? gamma[c] : 1.0F) / std::sqrt(variance[c] + d.epsilon);
    shift[c] = beta ? beta[c] : 0.0F;
  }
  widen(s.wide[0], mean, r);
  widen(s.wide[1], scale, r);
  widen(s.wide[2], shift, r);
  map_affine(y, x, {s.wide[0], s.wide[1], s.wide[2]}, d.activation, r, pool);
}

void batch_norm_target(float* y, float* mean, float* variance, const float* x, const float* gamma,
                       const float* beta, void* workspace, const batch_norm_dims& d,
                       parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  const auto s = carve_batch_norm(pieces, channel_rows(d.rows, d.channels), pool.threads());
  normalise(y, mean, variance, x, gamma, beta, s, d, pool);
}

template <class Type>
void of_16_bits(uint16_t* y, float* mean, float* variance, const uint16_t* x, const float* gamma,
                const float* beta, const BatchNormScratch& s, const batch_norm_dims& d,
                parallel::ThreadPool& pool) {
  normalise(simd::HWY_NAMESPACE::Narrow<Type>{y}, mean, variance,
            simd::HWY_NAMESPACE::ConstNarrow<Type>{x}, gamma, beta, s, d, pool);
}

void batch_norm_16bit_target(uint16_t* y, float* mean, float* variance, const uint16_t* x,
                             const float* gamma, const float* beta, bool brain,
                             const BatchNormScratch& s, const batch_norm_dims& d,
                             parallel::ThreadPool& pool) {
  const auto run = brain ? of_16_bits<simd::HWY_NAMESPACE::BrainFloat>
                         : of_16_bits<simd::HWY_NAMESPACE::HalfFloat>;
  run(y, mean, variance, x, gamma, beta, s, d, pool);
}

}  // namespace thimble::ops::batch_norm_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::batch_norm_impl {
HWY_EXPORT(batch_norm_target);
HWY_EXPORT(batch_norm_16bit_target);

namespace {

struct NarrowScratch {
  BatchNormScratch own;
  NarrowChannels channels;  // gamma and beta in f32
};

NarrowScratch carve_narrow(simd::Workspace& workspace, const batch_norm_dims& d, int threads) {
  NarrowScratch s;
  s.own = carve_batch_norm(workspace, channel_rows(d.rows, d.channels), threads);
  s.channels = NarrowChannels(workspace, d.channels);
  return s;
}

}  // namespace

int64_t batch_norm_16bit_workspace_bytes(const batch_norm_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_narrow(counter, d, threads);
  return counter.bytes();
}

void batch_norm_16bit(const ir::KernelCall& call) {
  const NarrowCall narrow(call);
  const auto& d = narrow.params<batch_norm_dims>();
  simd::Workspace pieces(call.workspace);
  NarrowScratch s = carve_narrow(pieces, d, call.pool->threads());
  const float* const gamma = s.channels.input(narrow, 1);
  const float* const beta = s.channels.input(narrow, 2);
  HWY_DYNAMIC_DISPATCH(batch_norm_16bit_target)
  (static_cast<uint16_t*>(call.outputs[0]), static_cast<float*>(call.outputs[1]),
   static_cast<float*>(call.outputs[2]), static_cast<const uint16_t*>(call.inputs[0]), gamma, beta,
   narrow.is_brain(0), s.own, d, *call.pool);
}

int64_t batch_norm_workspace_bytes(const batch_norm_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_batch_norm(counter, channel_rows(d.rows, d.channels), threads);
  return counter.bytes();
}

void batch_norm_simd(float* y, float* mean, float* variance, const float* x, const float* gamma,
                     const float* beta, const float* /*running_mean*/, const float* /*running_var*/,
                     void* workspace, const batch_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(batch_norm_target)(y, mean, variance, x, gamma, beta, workspace, *d, pool);
}

}  // namespace thimble::ops::batch_norm_impl
#endif
