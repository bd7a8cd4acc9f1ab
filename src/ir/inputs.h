// Which inputs a call of an op may have.
#pragma once

#include <span>
#include <string>

#include "ir/op_def.h"

namespace thimble::ir {

// The error of a call's inputs, whose types are null where one is left out; empty: they
// are as many as the op declares, and none is left out that is required. Shape rules and kernels
// rely on it.
[[nodiscard]] std::string inputs_error(const OpDef& op, std::span<const TensorType* const> inputs);

}  // namespace thimble::ir
