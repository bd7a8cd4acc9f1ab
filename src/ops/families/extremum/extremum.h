// Shared by max and min, argmax and argmin, maximum and minimum. Each pair has one driver that is
// parameterized by the comparison.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "ops/families/extremum/extremum_ref.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// The fast kernels; see extremum_ref.h. They need dims that matrices_of calls regular.
void largest_simd(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool);
void smallest_simd(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool);
// The gradient of both. dx may be x.
void extremum_grad_simd(float* dx, const float* dy, const float* x, const float* y,
                        const reduce_dims* d, parallel::ThreadPool& pool);

// These need contiguous elements (inner = 1).
void place_of_largest_simd(int32_t* y, const float* x, const axis_dims* d,
                           parallel::ThreadPool& pool);
void place_of_smallest_simd(int32_t* y, const float* x, const axis_dims* d,
                            parallel::ThreadPool& pool);

void maximum_simd(float* y, const float* a, const float* b, const nary_dims* d,
                  parallel::ThreadPool& pool);
void maximum_grad_simd(float* dx, const float* dy, const float* a, const float* b,
                       const nary_dims* d, parallel::ThreadPool& pool);
void minimum_simd(float* y, const float* a, const float* b, const nary_dims* d,
                  parallel::ThreadPool& pool);
void minimum_grad_simd(float* dx, const float* dy, const float* a, const float* b,
                       const nary_dims* d, parallel::ThreadPool& pool);

// Completes the definition of such an op; the caller sets name, doc, example, kernels and vjp.
ir::OpDef extremum_op(ir::OpDef def);              // reductions over axes: attributes ReduceOptions
ir::OpDef extremum_grad_op(ir::OpDef def);         // dx of (dy, x, y)
ir::OpDef extremum_place_op(ir::OpDef def);        // attributes ArgmaxOptions
ir::OpDef extremum_of_two_op(ir::OpDef def);       // two operands (a, b)
ir::OpDef extremum_of_two_grad_op(ir::OpDef def);  // dx of (dy, a, b)

// What the gradients compare: int8 of one scale as its integers, f32; all else as it is.
Value compared(Value x);
// The gradients of an op of two operands; grad: its gradient op.
std::vector<Value> extremum_of_two_vjp(const ir::VjpContext& c, const ir::OpDef& grad);

}  // namespace thimble::ops
