// The fast kernels of 2-D pooling, in the simd.cpp of their ops. Shapes, layout and aliasing as in
// their ref.h. Results do not depend on the number of threads. None throws or allocates.
#pragma once

#include <cstdint>

#include "ir/op_context.h"
#include "ops/families/pool/pool_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::average_pool2d_impl {
void average_pool2d_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool);
void average_pool2d_grad_simd(float* dx, const float* dy, const pool_dims* d,
                              parallel::ThreadPool& pool);
}  // namespace thimble::ops::average_pool2d_impl

namespace thimble::ops::max_pool2d_impl {
void max_pool2d_simd(float* y, uint8_t* index, const float* x, const pool_dims* d,
                     parallel::ThreadPool& pool);
void max_pool2d_inference_simd(float* y, const float* x, const pool_dims* d,
                               parallel::ThreadPool& pool);
void max_pool2d_grad_simd(float* dx, const float* dy, const uint8_t* index, const pool_dims* d,
                          parallel::ThreadPool& pool);
void max_pool2d_pack_simd(uint8_t* bits, const uint8_t* index, const pool_pack_dims* d,
                          parallel::ThreadPool& pool);
void max_pool2d_packed_grad_simd(float* dx, const float* dy, const uint8_t* bits, void* workspace,
                                 const pool_dims* d, parallel::ThreadPool& pool);
// Bytes of its workspace; params hold pool_dims.
int64_t max_pool2d_packed_grad_workspace(const ir::Params& params, int threads);
}  // namespace thimble::ops::max_pool2d_impl
