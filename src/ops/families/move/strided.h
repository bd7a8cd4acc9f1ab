// Strided selections of a tensor's elements, for ops that permute or copy elements.
#pragma once

#include <vector>

#include "ir/op_def.h"
#include "ops/families/move/strided_dims.h"

namespace thimble::ops {

// One axis of the dense tensor, outermost first.
struct StridedAxis {
  int64_t size;
  int64_t stride;  // in the other tensor
};

// The stride of every axis of a row-major tensor, in elements.
std::vector<int64_t> row_major_strides(const Shape& shape);

// Drops axes of size 1 and merges neighbouring axes where possible. other: number of elements of
// the other tensor.
strided_dims strided_dims_of(const std::vector<StridedAxis>& axes, int64_t offset, int64_t other,
                             DType dtype);

}  // namespace thimble::ops
