// The fast kernels of attention; shapes and meaning as in ref.h. Nothing aliases. Results do not
// depend on the number of threads. Neither throws nor allocates.
#pragma once

#include <cstdint>

#include "ops/scaled_dot_product_attention/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::scaled_dot_product_attention_impl {

void attention_simd(float* y, float* lse, const uint32_t* rng, const float* q, const float* k,
                    const float* v, const void* mask, void* workspace, const attention_dims* d,
                    parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_workspace_bytes(const attention_dims& d, int threads);

void attention_grad_simd(float* dq, float* dk, float* dv, const uint32_t* rng, const float* dy,
                         const float* q, const float* k, const float* v, const float* y,
                         const float* lse, const void* mask, void* workspace,
                         const attention_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_grad_workspace_bytes(const attention_dims& d, int threads);

}  // namespace thimble::ops::scaled_dot_product_attention_impl
