#include <hwy/highway.h>

#include "ops/matmul/simd.h"
#include "simd/gemm.h"

#if HWY_ONCE
namespace thimble::ops::matmul_impl {
namespace {

simd::GemmSizes gemm_sizes(const matmul_dims& d) {
  simd::GemmSizes sizes;
  sizes.batch = d.batch;
  sizes.m = d.m;
  sizes.n = d.n;
  sizes.k = d.k;
  sizes.transpose_a = d.transpose_a != 0;
  sizes.transpose_b = d.transpose_b != 0;
  sizes.a_distance = d.broadcast_a ? 0 : static_cast<int64_t>(d.m) * d.k;
  sizes.b_distance = d.broadcast_b ? 0 : static_cast<int64_t>(d.k) * d.n;
  sizes.activation = d.activation;
  sizes.add_previous = d.accumulate != 0;
  sizes.a_rows = d.a_rows;
  return sizes;
}

}  // namespace

void matmul_simd(float* y, const float* a, const float* b, const float* bias, void* workspace,
                 const matmul_dims* d, parallel::ThreadPool& pool) {
  const int64_t first = d->transpose_a ? d->a_first : static_cast<int64_t>(d->a_first) * d->k;
  simd::gemm(y, a + first, b, bias, workspace, gemm_sizes(*d), pool);
}

int64_t matmul_workspace_bytes(const matmul_dims& d, int threads) {
  return simd::gemm_workspace_bytes(gemm_sizes(d), threads);
}

}  // namespace thimble::ops::matmul_impl
#endif
