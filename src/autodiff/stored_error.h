// Gradients that are stored in 8 bits, by ops that are found by their trait.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace thimble::autodiff {

// A gradient as it is stored: the outputs of the op that stores it. None: there is no gradient yet.
using StoredError = std::vector<Value>;

// Stores a gradient. Throws Error where no op of the library does.
[[nodiscard]] StoredError stored_error(ir::Graph& graph, Value gradient);
// Stores the sum of a stored gradient and another one.
[[nodiscard]] StoredError stored_sum(ir::Graph& graph, const StoredError& stored, Value gradient);
// The gradient, f32 again.
[[nodiscard]] Value loaded_error(ir::Graph& graph, const StoredError& stored);

}  // namespace thimble::autodiff
