// The fast kernel of quantized_conv2d_weight_grad, in simd.cpp.
#pragma once

#include <cstdint>

#include "ops/quantized_conv2d_weight_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::quantized_conv2d_weight_grad_impl {

// As in ref.h. workspace: the bytes below for pool.threads(), of any alignment.
void weight_grad_simd(float* dw, const int8_t* x, const float* dy, void* workspace,
                      const quantized_conv2d_weight_grad_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t weight_grad_workspace_bytes(const quantized_conv2d_weight_grad_dims& d,
                                                  int threads);

}  // namespace thimble::ops::quantized_conv2d_weight_grad_impl
