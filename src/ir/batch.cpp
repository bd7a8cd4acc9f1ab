#include <fmt/format.h>

#include "ir/graph.h"

namespace thimble::ir {

Graph with_batch(const Graph& graph, int64_t batch) {
  if (batch < 1) throw Error("batch", fmt::format("expected at least 1, got {}", batch));
  Graph fixed = graph;
  for (ValueData& data : fixed.values) {
    if (data.producer < 0) data.type.shape = with_batch(data.type.shape, batch);
  }
  for (Node& node : fixed.nodes) {
    node.attrs = with_batch(node.attrs, batch);
    std::vector<const TensorType*> types;
    for (int input : node.inputs) types.push_back(input < 0 ? nullptr : &fixed.type(input));
    const std::vector<TensorType> result = infer_types(*node.op, node.attrs, types);
    for (size_t i = 0; i < result.size(); ++i) {
      fixed.values[static_cast<size_t>(node.outputs[i])].type = result[i];
    }
  }
  return fixed;
}

}  // namespace thimble::ir
