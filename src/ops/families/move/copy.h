// Helpers of ops that copy elements of any type unchanged.
#pragma once

#include "ir/op_def.h"
#include "ops/families/move/copy_dims.h"

namespace thimble::ops {

// The kernels' element for a type.
inline copy_element copy_element_of(DType dtype) { return {dtype == DType::f32, bits(dtype)}; }

// Every byte of a NaN, and of the 0 of integers.
inline int missing_byte(DType dtype) { return is_floating(dtype) ? 0xFF : 0; }

// All elements of a tensor.
inline copy_dims copy_dims_of(const ir::TensorType& type) {
  if (is_packed(type.dtype)) {
    return {static_cast<int>(size_bytes(type.dtype, type.shape)), {0, 8}};
  }
  return {static_cast<int>(type.shape.elements()), copy_element_of(type.dtype)};
}

// The type of x (input i) under another shape, for ops that move whole elements: a quantization of
// the whole tensor stays. Fails for scales along an axis, because elements may change their place
// in it.
inline ir::TensorType moved_type(const ir::InferContext& c, int i, const Shape& shape) {
  const ir::TensorType& x = c.input(i);
  c.require(x.quantization == nullptr || !x.quantization->axis,
            "cannot move elements that have scales along an axis; dequantize them before");
  return {x.dtype, shape, x.quantization};
}

}  // namespace thimble::ops
