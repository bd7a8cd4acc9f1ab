#include <hwy/highway.h>

#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#if HWY_ONCE
namespace thimble::ops::conv2d_input_grad_impl {

void conv2d_input_grad_simd(float* dx, const float* dy, const float* w, const float* bias,
                            void* workspace, const conv2d_input_grad_dims* d,
                            parallel::ThreadPool& pool) {
  simd::conv_adjoint(dx, dy, w, bias, workspace, *d, pool);
}

int64_t conv2d_input_grad_workspace_bytes(const conv2d_input_grad_dims& d, int threads) {
  return simd::conv_adjoint_workspace_bytes(d, threads);
}

}  // namespace thimble::ops::conv2d_input_grad_impl
#endif
