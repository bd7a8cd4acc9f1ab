// Shared by softmax and log_softmax.
#pragma once

#include <thimble/ops/softmax.h>

#include "ir/graph.h"
#include "ops/families/reduction/axis_dims.h"
#include "parallel/thread_pool.h"

namespace thimble {

inline void describe(SoftmaxOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis of the classes");
}

namespace ops {

// Complete the definitions; the caller sets name, doc, example, kernels and, for the op, vjp.
ir::OpDef softmax_family_op(ir::OpDef def);       // y of x
ir::OpDef softmax_family_grad_op(ir::OpDef def);  // dx of (dy, y)

}  // namespace ops
}  // namespace thimble

// Declares the fast kernels that SOFTMAX_SIMD_EXPORT defines in the folder's simd.cpp; as in ref.h,
// up to rounding.
#define SOFTMAX_SIMD_DECLARE(op)                                                              \
  namespace thimble::ops::op##_impl {                                                         \
    void op##_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool); \
    void op##_grad_simd(float* dx, const float* dy, const float* y, const axis_dims* d,       \
                        parallel::ThreadPool& pool);                                          \
  }
