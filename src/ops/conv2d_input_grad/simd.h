// The fast kernel of conv2d_input_grad; shapes, layout and aliasing as in ref.h.
#pragma once

#include <cstdint>

#include "ops/conv2d_input_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::conv2d_input_grad_impl {

// workspace: conv2d_input_grad_workspace_bytes(d, pool.threads()) bytes of any alignment,
// uninitialised. Results do not depend on the number of threads. Neither throws nor allocates.
void conv2d_input_grad_simd(float* dx, const float* dy, const float* w, const float* bias,
                            void* workspace, const conv2d_input_grad_dims* d,
                            parallel::ThreadPool& pool);
[[nodiscard]] int64_t conv2d_input_grad_workspace_bytes(const conv2d_input_grad_dims& d,
                                                        int threads);

}  // namespace thimble::ops::conv2d_input_grad_impl
