// The fast kernels of the gradients that read errors of int8, in simd.cpp. They have the bits of
// ref.h.
#pragma once

#include <cstdint>

#include "ops/int8_error_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::int8_error_grad_impl {

// workspace: the bytes below.
void input_grad_simd(int8_t* dx, float* dx_scale, const int8_t* e, const float* scale,
                     const float* factors, const int8_t* w, const uint8_t* bits,
                     const int8_t* waiting, const float* waiting_scale, void* workspace,
                     const int8_error_conv_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t input_grad_workspace_bytes(const int8_error_conv_dims& d);
void weight_grad_simd(float* dw, const int8_t* x, const int8_t* e, const float* scale,
                      const float* factors, const uint8_t* bits, const int8_error_conv_dims* d,
                      parallel::ThreadPool& pool);

}  // namespace thimble::ops::int8_error_grad_impl
