// Gradients that are stored in 8 bits while they wait, by ops that are found by their trait.
#pragma once

#include "ir/graph.h"

namespace thimble::autodiff {

// The sum of two gradients, of which the first waits for the other in 8 bits. Throws Error where no
// op of the library stores it.
[[nodiscard]] Value sum_with_stored_error(ir::Graph& graph, Value waiting, Value gradient);

}  // namespace thimble::autodiff
