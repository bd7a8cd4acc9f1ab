// An optimizer's rule and the op that computes its gradient as one node, which never holds the
// whole gradient.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::ops {

// A node to be.
struct FusedUpdate {
  const OpDef* op;
  ir::Attrs attrs;
  std::vector<int> inputs;  // values of the graph; the outputs are those of the update
};

// The two nodes as one: `update` reads what `gradient` computes. None where the rule looks at more
// than an element at a time, a state is not of the parameter's type, the gradient cannot be
// computed in tiles to the same bits, or has not more than one.
[[nodiscard]] std::optional<FusedUpdate> fuse_update(const ir::Graph& graph,
                                                     const ir::Node& gradient,
                                                     const ir::Node& update);

}  // namespace thimble::ops
