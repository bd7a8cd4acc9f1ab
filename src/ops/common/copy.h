// For ops that move elements of any type unchanged.
#pragma once

#include "ir/op_def.h"
#include "ops/common/copy_dims.h"

namespace thimble::ops {

// The element of a type that is not packed into bits.
inline copy_element copy_element_of(DType dtype) {
  return {dtype == DType::f32, static_cast<int>(size_bytes(dtype, {}))};
}

// Refuses bit masks, whose elements have no address.
inline void require_addressable(const ir::InferContext& c, int i) {
  c.require(c.input(i).dtype != DType::boolean, "cannot move the elements of packed bits");
}

}  // namespace thimble::ops
