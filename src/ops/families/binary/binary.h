// The family of ops y = f(a, b), element by element, with broadcasting as in NumPy.
#pragma once

#include "ir/graph.h"
#include "ops/families/binary/binary_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Sizes and strides with which the kernels read operands of these shapes; y is their broadcast
// shape.
binary_dims binary_dims_of(const Shape& a, const Shape& b, const Shape& y);

// Completes the definition of an op of the family. The caller sets name, doc, example, vjp and the
// kernels (real* y, const real* a, const real* b, const binary_dims*). Gradients have the shape of
// the result until sum_to reduces them.
OpDef binary_op(OpDef def);

// The product: the op of ops/mul.
[[nodiscard]] const OpDef& product_op();

}  // namespace thimble::ops

// Declares the fast kernel that BINARY_SIMD_EXPORT defines in the folder's simd.cpp; _IN where the
// op is not called like its folder.
#define BINARY_SIMD_DECLARE_IN(folder, op)                                         \
  namespace thimble::ops::folder##_impl {                                          \
    void op##_simd(float* y, const float* a, const float* b, const binary_dims* d, \
                   parallel::ThreadPool& pool);                                    \
  }
#define BINARY_SIMD_DECLARE(op) BINARY_SIMD_DECLARE_IN(op, op)
