// Constants of thimble's own, whose names say their values.
#pragma once

#include <string>

#include "ir/graph.h"

namespace thimble::ir {

// The constant of this name, one of thimble's own, added on first use. A graph from a model file
// may bring it along: throws Error where it is anything else than a constant of these values, up to
// the rounding of another machine's functions.
[[nodiscard]] Value own_constant(Graph& graph, const std::string& name, const Array& values);

}  // namespace thimble::ir
