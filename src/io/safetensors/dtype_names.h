// Element types under their names in safetensors files.
#pragma once

#include <thimble/types.h>

#include "io/safetensors/safetensors.h"

namespace thimble::io {

struct TypeName {
  const char* name;
  DType dtype;
  Foreign foreign = Foreign::none;
  int64_t foreign_bytes = 0;  // of an element

  [[nodiscard]] bool is_of(const TensorView& t) const {
    return foreign == t.foreign && (foreign != Foreign::none || dtype == t.dtype);
  }
  [[nodiscard]] int64_t size(const Shape& shape) const {
    return foreign == Foreign::none ? size_bytes(dtype, shape) : foreign_bytes * shape.elements();
  }
};

inline constexpr TypeName kTypeNames[] = {{"F32", DType::f32},
                                          {"I8", DType::i8},
                                          {"I32", DType::i32},
                                          {"U8", DType::u8},
                                          {"U32", DType::u32},
                                          {"F16", DType::f16},
                                          {"BF16", DType::bf16},
                                          {"F64", DType::f32, Foreign::f64, 8},
                                          {"I64", DType::f32, Foreign::i64, 8},
                                          {"I16", DType::f32, Foreign::i16, 2},
                                          {"BOOL", DType::f32, Foreign::boolean, 1}};

}  // namespace thimble::io
