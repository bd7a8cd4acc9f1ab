#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/sizes.h"

namespace thimble::ir {

Graph with_batch(const Graph& graph, int64_t batch) {
  if (batch < 1 || batch > kMostElements) {
    throw Error("batch", fmt::format("expected 1 to {}, got {}", kMostElements, batch));
  }
  Graph fixed = graph;
  for (ValueData& data : fixed.values) {
    if (data.producer >= 0) continue;
    data.type.shape = with_batch(data.type.shape, batch);
    check_size(data.name, data.type, false);
  }
  for (Node& node : fixed.nodes) {
    node.attrs = with_batch(node.attrs, batch);
    std::vector<const TensorType*> types;
    for (int input : node.inputs) types.push_back(input < 0 ? nullptr : &fixed.type(input));
    const std::vector<TensorType> result = infer_types(*node.op, node.attrs, types);
    for (size_t i = 0; i < result.size(); ++i) {
      check_size(node.op->name, result[i], false);
      fixed.values[static_cast<size_t>(node.outputs[i])].type = result[i];
    }
  }
  return fixed;
}

}  // namespace thimble::ir
