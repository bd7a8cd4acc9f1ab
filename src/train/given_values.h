// Values that a graph brings along for its parameters and states, in the place of first values.
#pragma once

#include <thimble/array.h>

#include <string>
#include <utility>
#include <vector>

#include "exec/memory.h"
#include "ir/graph.h"

namespace thimble::train {

class GivenValues {
 public:
  GivenValues() = default;
  // Takes them out of a graph: they shall not lie in memory beside the store's for long.
  explicit GivenValues(ir::Graph& graph);

  void write_to(exec::Store& store) const;
  // Throws Error where a parameter or state of the graph has none.
  void require_all(const ir::Graph& graph) const;

 private:
  std::vector<std::pair<std::string, Array>> values_;
};

}  // namespace thimble::train
