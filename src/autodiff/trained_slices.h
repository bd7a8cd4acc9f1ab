// The op that takes slices along an axis, found by its trait: it is named nowhere.
#pragma once

#include "ir/graph.h"

namespace thimble::autodiff {

// Of a tensor of the shape of a parameter that is trained in part: the trained slices. Throws Error
// where no op of the library takes them.
[[nodiscard]] Value trained_slices(ir::Graph& graph, Value whole, int param);

}  // namespace thimble::autodiff
