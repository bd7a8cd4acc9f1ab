// Parameters that are read where they lie: in a file that is mapped into memory.
#pragma once

#include "ir/graph.h"

namespace thimble::ir {

// Whether a parameter is of a type that no step changes (see is_trainable): bf16, f16, and i8 and
// i4 without scales. Such a parameter lies in a file that is mapped into memory, the model file or
// one without a name, and is no part of what a training holds: the system reads and drops its pages
// as it likes.
[[nodiscard]] inline bool is_mapped(Role role, const TensorType& type) {
  if (role != Role::parameter || type.quantization != nullptr) return false;
  return type.dtype == DType::bf16 || type.dtype == DType::f16 || type.dtype == DType::i8 ||
         type.dtype == DType::i4;
}

}  // namespace thimble::ir
