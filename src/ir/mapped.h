// Parameters that are read where they lie: in a file that is mapped into memory.
#pragma once

#include "ir/graph.h"

namespace thimble::ir {

// Whether a parameter is of a type that no step changes and that files hold as memory does: bf16,
// f16, and i8 without scales. Such a parameter is no part of what a training holds: it is mapped
// from its file, read-only, and the system reads and drops its pages as it likes.
[[nodiscard]] inline bool is_mapped(Role role, const TensorType& type) {
  if (role != Role::parameter) return false;
  if (type.dtype == DType::bf16 || type.dtype == DType::f16) return true;
  return type.dtype == DType::i8 && type.quantization == nullptr;
}

}  // namespace thimble::ir
