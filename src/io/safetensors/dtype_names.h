// Element types under their names in safetensors files.
#pragma once

#include <thimble/types.h>

#include "io/safetensors/safetensors.h"

namespace thimble::io {

struct TypeName {
  const char* name;
  DType dtype;
};

// The format has no i4.
inline constexpr TypeName kTypeNames[] = {
    {"F64", DType::f64}, {"F32", DType::f32}, {"F16", DType::f16},     {"BF16", DType::bf16},
    {"I64", DType::i64}, {"I32", DType::i32}, {"I16", DType::i16},     {"I8", DType::i8},
    {"U32", DType::u32}, {"U8", DType::u8},   {"BOOL", DType::boolean}};

}  // namespace thimble::io
