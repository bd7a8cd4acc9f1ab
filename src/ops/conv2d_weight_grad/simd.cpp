#include <hwy/highway.h>

#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#if HWY_ONCE
namespace thimble::ops::conv2d_weight_grad_impl {

void conv2d_weight_grad_simd(float* dw, const float* x, const float* dy, void* workspace,
                             const conv2d_weight_grad_dims* d, parallel::ThreadPool& pool) {
  simd::conv_weights(dw, x, dy, workspace, *d, pool);
}

int64_t conv2d_weight_grad_workspace_bytes(const conv2d_weight_grad_dims& d, int threads) {
  return simd::conv_weights_workspace_bytes(d, threads);
}

}  // namespace thimble::ops::conv2d_weight_grad_impl
#endif
