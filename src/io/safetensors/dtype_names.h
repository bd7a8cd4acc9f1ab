// Element types under their names in safetensors files.
#pragma once

#include <thimble/types.h>

#include <utility>

namespace thimble::io {

inline constexpr std::pair<DType, const char*> kDTypeNames[] = {
    {DType::f32, "F32"}, {DType::i8, "I8"},   {DType::i32, "I32"},  {DType::u8, "U8"},
    {DType::u32, "U32"}, {DType::f16, "F16"}, {DType::bf16, "BF16"}};

}  // namespace thimble::io
