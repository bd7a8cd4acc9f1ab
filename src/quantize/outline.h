// Which nodes of a graph may compute on int8.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace thimble::quantizing {

struct Outline {
  // Nodes: lead to an output and do not depend on a label. Of a graph without outputs all those
  // that do not depend on a label.
  std::vector<char> is_inner;
  // Nodes: the clamp, or the rounding to steps, that alone reads the first result and that the int8
  // form takes over; -1: none.
  std::vector<int> clamp;
  // Values that may be int8: their ranges are needed.
  std::vector<int> observed;
};

// graph: specialized for inference.
[[nodiscard]] Outline outline_of(const ir::Graph& graph);

}  // namespace thimble::quantizing
