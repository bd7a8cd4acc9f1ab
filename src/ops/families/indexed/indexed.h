// Checks of ops that look up elements along an axis by indices.
#pragma once

#include <vector>

#include "ir/op_def.h"
#include "ops/families/indexed/indexed_dims.h"

namespace thimble::ops {

// Fails unless x (or a shape) and the index input match: an index of as many dimensions as x,
// no larger than x in any other axis; the axis must exist.
void check_indexed(const ir::InferContext& c, const Shape& x, int index, int64_t axis);

// Kernels of inputs of one type with an index behind the first: x, index, source.
std::vector<ir::TypedKernels> with_index(std::vector<ir::TypedKernels> kernels);

indexed_dims indexed_dims_of(const Shape& x, const Shape& index, int64_t axis, DType dtype);

}  // namespace thimble::ops
