// Shared by elementwise ops of several broadcast tensors.
#pragma once

#include "ir/op_def.h"
#include "ops/families/nary/nary_dims.h"

namespace thimble::ops {

// The shape that inputs first to last (those given) broadcast to, as in NumPy. Fails where they do
// not, and for more than 8 dimensions.
Shape broadcast_shape(const ir::InferContext& c, int first, int last);

// How kernels walk over the given inputs of these shapes; null: left out.
nary_dims nary_dims_of(const std::vector<const Shape*>& inputs, const Shape& y, int choice = 0);

// The same for the inputs of a node.
nary_dims nary_dims_of(const ir::KernelContext& c, int choice = 0);

}  // namespace thimble::ops
