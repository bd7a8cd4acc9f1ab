// Gradients that are stored in 8 bits while they wait, by ops that are found by their trait.
#pragma once

#include "ir/graph.h"

namespace thimble::autodiff {

// The gradient as it is after it was stored in 8 bits. Throws Error where no op of the library
// stores it.
[[nodiscard]] Value stored_error(ir::Graph& graph, Value gradient);

}  // namespace thimble::autodiff
