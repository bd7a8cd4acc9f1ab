// Whether tensors hold finite numbers.
#pragma once

#include <cstddef>
#include <span>

#include "ir/op_context.h"

namespace thimble::exec {

// Whether every element is finite; integers always are. bytes: as in memory.
[[nodiscard]] bool is_finite(const ir::TensorType& type, std::span<const std::byte> bytes);

}  // namespace thimble::exec
