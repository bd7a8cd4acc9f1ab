// Shared by elementwise ops of several broadcast tensors.
#pragma once

#include "ir/op_def.h"
#include "ops/families/nary/nary_dims.h"

namespace thimble::ops {

// The broadcast shape of the given ones of inputs first to last, as in NumPy. Fails if they do not
// broadcast, and for more than 8 dimensions.
Shape broadcast_shape(const ir::InferContext& c, int first, int last);

// Sizes and strides with which kernels read inputs of these shapes; null: the input is left out.
nary_dims nary_dims_of(const std::vector<const Shape*>& inputs, const Shape& y, int choice = 0);

// The same for the inputs of a node.
nary_dims nary_dims_of(const ir::KernelContext& c, int choice = 0);

}  // namespace thimble::ops
