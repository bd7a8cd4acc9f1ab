// The op that changes types, found by its trait: it is named nowhere.
#pragma once

#include "ir/graph.h"

namespace thimble::autodiff {

// The value in another floating-point type. Throws Error where no op of the library does that.
[[nodiscard]] Value with_type(ir::Graph& graph, Value value, DType dtype);

// A copy of the value, as a value of its own.
[[nodiscard]] Value copy_of(ir::Graph& graph, Value value);

}  // namespace thimble::autodiff
