#include <hwy/highway.h>

#include <cmath>

#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/norm/channel_rows-inl.h"
#include "ops/families/norm/narrow_channels.h"

#ifndef THIMBLE_OPS_BATCH_NORM_INFERENCE_ONCE_
#define THIMBLE_OPS_BATCH_NORM_INFERENCE_ONCE_
namespace thimble::ops::batch_norm_inference_impl {

// Mean, scale and shift along a wide row.
struct InferenceScratch {
  float* wide[3];
};

inline InferenceScratch carve_inference(simd::Workspace& workspace, const ChannelRows& r) {
  InferenceScratch s{};
  for (float*& wide : s.wide) wide = workspace.take<float>(r.width);
  return s;
}

}  // namespace thimble::ops::batch_norm_inference_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::batch_norm_inference_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

template <class To, class From>
void normalise(To y, From x, const float* gamma, const float* beta, const float* mean,
               const float* variance, const InferenceScratch& s, const batch_norm_dims& d,
               parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.rows, d.channels);
  for (int at = 0; at < r.width; ++at) {
    const int c = at % r.channels;
    s.wide[0][at] = mean[c];
    s.wide[1][at] = (gamma ? gamma[c] : 1.0F) / std::sqrt(variance[c] + d.epsilon);
    s.wide[2][at] = beta ? beta[c] : 0.0F;
  }
  map_affine(y, x, {s.wide[0], s.wide[1], s.wide[2]}, d.activation, r, pool);
}

void batch_norm_inference_target(float* y, const float* x, const float* gamma, const float* beta,
                                 const float* mean, const float* variance,
                                 const InferenceScratch& s, const batch_norm_dims& d,
                                 parallel::ThreadPool& pool) {
  normalise(y, x, gamma, beta, mean, variance, s, d, pool);
}

template <class Type>
void of_16_bits(uint16_t* y, const uint16_t* x, const float* gamma, const float* beta,
                const float* mean, const float* variance, const InferenceScratch& s,
                const batch_norm_dims& d, parallel::ThreadPool& pool) {
  normalise(simd::HWY_NAMESPACE::Narrow<Type>{y}, simd::HWY_NAMESPACE::ConstNarrow<Type>{x}, gamma,
            beta, mean, variance, s, d, pool);
}

void batch_norm_inference_16bit_target(uint16_t* y, const uint16_t* x, const float* gamma,
                                       const float* beta, const float* mean, const float* variance,
                                       bool brain, const InferenceScratch& s,
                                       const batch_norm_dims& d, parallel::ThreadPool& pool) {
  const auto run = brain ? of_16_bits<simd::HWY_NAMESPACE::BrainFloat>
                         : of_16_bits<simd::HWY_NAMESPACE::HalfFloat>;
  run(y, x, gamma, beta, mean, variance, s, d, pool);
}

}  // namespace thimble::ops::batch_norm_inference_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::batch_norm_inference_impl {
HWY_EXPORT(batch_norm_inference_target);
HWY_EXPORT(batch_norm_inference_16bit_target);

namespace {

struct NarrowScratch {
  InferenceScratch own;
  NarrowChannels channels;  // gamma, beta, mean and variance in f32
};

NarrowScratch carve_narrow(simd::Workspace& workspace, const batch_norm_dims& d) {
  NarrowScratch s;
  s.own = carve_inference(workspace, channel_rows(d.rows, d.channels));
  s.channels = NarrowChannels(workspace, d.channels);
  return s;
}

}  // namespace

int64_t batch_norm_inference_16bit_workspace_bytes(const batch_norm_dims& d) {
  simd::Workspace counter(nullptr);
  carve_narrow(counter, d);
  return counter.bytes();
}

void batch_norm_inference_16bit(const ir::KernelCall& call) {
  const NarrowCall narrow(call);
  const auto& d = narrow.params<batch_norm_dims>();
  simd::Workspace pieces(call.workspace);
  NarrowScratch s = carve_narrow(pieces, d);
  const float* channels[4];
  for (int i = 0; i < 4; ++i) channels[i] = s.channels.input(narrow, 1 + i);
  HWY_DYNAMIC_DISPATCH(batch_norm_inference_16bit_target)
  (static_cast<uint16_t*>(call.outputs[0]), static_cast<const uint16_t*>(call.inputs[0]),
   channels[0], channels[1], channels[2], channels[3], narrow.is_brain(0), s.own, d, *call.pool);
}

int64_t batch_norm_inference_workspace_bytes(const batch_norm_dims& d) {
  simd::Workspace counter(nullptr);
  carve_inference(counter, channel_rows(d.rows, d.channels));
  return counter.bytes();
}

void batch_norm_inference_simd(float* y, const float* x, const float* gamma, const float* beta,
                               const float* mean, const float* variance, void* workspace,
                               const batch_norm_dims* d, parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  const InferenceScratch s = carve_inference(pieces, channel_rows(d->rows, d->channels));
  HWY_DYNAMIC_DISPATCH(batch_norm_inference_target)
  (y, x, gamma, beta, mean, variance, s, *d, pool);
}

}  // namespace thimble::ops::batch_norm_inference_impl
#endif
