// The fast kernels of max, min, argmax and argmin; as in their ref.h.
#pragma once

#include <cstdint>

#include "exec/thread_pool.h"
#include "ops/common/axis_dims.h"
#include "ops/common/reduce_dims.h"

namespace thimble::ops {

// These are for dims that matrices_of calls regular.
void largest_simd(float* y, const float* x, const reduce_dims* d, exec::ThreadPool& pool);
void smallest_simd(float* y, const float* x, const reduce_dims* d, exec::ThreadPool& pool);

// As max_grad_ref and min_grad_ref. dx may be x.
void extremum_grad_simd(float* dx, const float* dy, const float* x, const float* y,
                        const reduce_dims* d, exec::ThreadPool& pool);

// These are for elements that lie side by side (inner = 1).
void place_of_largest_simd(int32_t* y, const float* x, const axis_dims* d, exec::ThreadPool& pool);
void place_of_smallest_simd(int32_t* y, const float* x, const axis_dims* d, exec::ThreadPool& pool);

}  // namespace thimble::ops
