#include <hwy/highway.h>

#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#if HWY_ONCE
namespace thimble::ops::conv2d_impl {

void conv2d_simd(float* y, const float* x, const float* w, const float* bias, void* workspace,
                 const conv2d_dims* d, parallel::ThreadPool& pool) {
  simd::conv(y, x, w, bias, workspace, *d, pool);
}

int64_t conv2d_workspace_bytes(const conv2d_dims& d, int threads) {
  return simd::conv_workspace_bytes(d, threads);
}

}  // namespace thimble::ops::conv2d_impl
#endif
