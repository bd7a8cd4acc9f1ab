// The layers of a model, as a sparse update names them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

// A layer and its parameters, by number. A node outside of layers is one without a name.
struct SchemeLayer {
  std::string name;
  std::vector<int> weights;  // all that are no biases
  std::vector<int> biases;   // added to results, as the op says (ir::LayerParameters)
  std::map<int, int> axes;   // of a weight with input channels: the axis that counts them
};

// In the order in which they run. A parameter that several layers share belongs to the first.
[[nodiscard]] std::vector<SchemeLayer> layers_of(const ir::Graph& model);

// Of some names the one with the fewest letters that differ; empty: there are none.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& known);

}  // namespace thimble::train
