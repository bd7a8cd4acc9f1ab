// Shared by concat and split.
#pragma once

#include <vector>

#include "ir/op_def.h"
#include "ops/families/move/parts_dims.h"

namespace thimble::ops {

// The sizes of parts that together make up the axis of the whole. The axis must exist.
parts_dims parts_dims_of(const Shape& whole, int64_t axis, const std::vector<int64_t>& sizes,
                         DType dtype);

// Fails if there are no parts or more than the kernels support.
void require_parts(const ir::InferContext& c, size_t count);

}  // namespace thimble::ops
