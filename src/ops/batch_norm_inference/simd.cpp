#include <hwy/highway.h>

#include <cmath>

#include "ops/families/norm/batch_norm_kernels.h"
#include "ops/families/norm/channel_rows-inl.h"

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

void batch_norm_inference_target(float* y, const float* x, const float* gamma, const float* beta,
                                 const float* mean, const float* variance, void* workspace,
                                 const batch_norm_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.rows, d.channels);
  simd::Workspace pieces(workspace);
  const InferenceScratch s = carve_inference(pieces, r);
  for (int at = 0; at < r.width; ++at) {
    const int c = at % r.channels;
    s.wide[0][at] = mean[c];
    s.wide[1][at] = (gamma ? gamma[c] : 1.0F) / std::sqrt(variance[c] + d.epsilon);
    s.wide[2][at] = beta ? beta[c] : 0.0F;
  }
  map_affine(y, x, {s.wide[0], s.wide[1], s.wide[2]}, d.activation, r, pool);
}

}  // namespace thimble::ops::batch_norm_inference_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::batch_norm_inference_impl {
HWY_EXPORT(batch_norm_inference_target);

int64_t batch_norm_inference_workspace_bytes(const batch_norm_dims& d) {
  simd::Workspace counter(nullptr);
  carve_inference(counter, channel_rows(d.rows, d.channels));
  return counter.bytes();
}

void batch_norm_inference_simd(float* y, const float* x, const float* gamma, const float* beta,
                               const float* mean, const float* variance, void* workspace,
                               const batch_norm_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(batch_norm_inference_target)
  (y, x, gamma, beta, mean, variance, workspace, *d, pool);
}

}  // namespace thimble::ops::batch_norm_inference_impl
#endif
