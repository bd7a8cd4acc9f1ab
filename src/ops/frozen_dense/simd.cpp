#include <hwy/highway.h>

#include "ir/element.h"
#include "ops/frozen_dense/dims.h"
#include "parallel/thread_pool.h"
#include "simd/gemm.h"

namespace thimble::ops::frozen_dense_impl {

// workspace: frozen_dense_workspace_bytes(d, pool.threads()) bytes of any alignment.
void frozen_dense_simd(float* y, const float* x, const unsigned char* w, const float* scales,
                       const float* bias, void* workspace, const frozen_dense_dims* d,
                       parallel::ThreadPool& pool);
[[nodiscard]] int64_t frozen_dense_workspace_bytes(const frozen_dense_dims& d, int threads);

}  // namespace thimble::ops::frozen_dense_impl

#if HWY_ONCE
namespace thimble::ops::frozen_dense_impl {
namespace {

simd::NarrowMatrix::Type type_of(int element) {
  switch (element) {
    case ELEMENT_BF16:
      return simd::NarrowMatrix::Type::bf16;
    case ELEMENT_F16:
      return simd::NarrowMatrix::Type::f16;
    case ELEMENT_I8:
      return simd::NarrowMatrix::Type::i8;
    default:
      return simd::NarrowMatrix::Type::i4;
  }
}

simd::GemmSizes sizes_of(const frozen_dense_dims& d) {
  simd::GemmSizes sizes;
  sizes.m = d.m;
  sizes.n = d.n;
  sizes.k = d.k;
  sizes.transpose_b = d.transpose_b != 0;
  return sizes;
}

}  // namespace

void frozen_dense_simd(float* y, const float* x, const unsigned char* w, const float* scales,
                       const float* bias, void* workspace, const frozen_dense_dims* d,
                       parallel::ThreadPool& pool) {
  const simd::NarrowMatrix weight{type_of(d->type), w, scales, d->group};
  simd::gemm_narrow(y, x, weight, bias, workspace, sizes_of(*d), pool);
}

int64_t frozen_dense_workspace_bytes(const frozen_dense_dims& d, int threads) {
  return simd::gemm_narrow_workspace_bytes(sizes_of(d), threads);
}

}  // namespace thimble::ops::frozen_dense_impl
#endif
