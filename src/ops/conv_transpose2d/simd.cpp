#include <hwy/highway.h>

#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#if HWY_ONCE
namespace thimble::ops::conv_transpose2d_impl {
namespace {

// Sizes of the convolution whose adjoint this is: it reads y and writes x.
conv_dims adjoint_dims(const conv_dims& d) {
  conv_dims of = d;
  of.h = d.p, of.w = d.q, of.c = d.k;
  of.p = d.h, of.q = d.w, of.k = d.c;
  return of;
}

}  // namespace

void conv_transpose2d_simd(float* y, const float* x, const float* w, const float* bias,
                           void* workspace, const conv_transpose2d_dims* d,
                           parallel::ThreadPool& pool) {
  simd::conv_adjoint(y, x, w, bias, workspace, adjoint_dims(*d), pool);
}

int64_t conv_transpose2d_workspace_bytes(const conv_transpose2d_dims& d, int threads) {
  return simd::conv_adjoint_workspace_bytes(adjoint_dims(d), threads);
}

double conv_transpose2d_fast_flops(const conv_dims& d) {
  return simd::conv_adjoint_fast_flops(adjoint_dims(d));
}

}  // namespace thimble::ops::conv_transpose2d_impl
#endif
