#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// The activation node that is the only reader of this node's only output, or -1.
int fusable_consumer(const ir::Graph& graph, const ir::Node& node,
                     const std::vector<std::vector<int>>& consumers,
                     const std::vector<char>& is_result) {
  if (node.op->rewrite.fuse_activation == nullptr || node.outputs.empty()) return -1;
  const size_t output = static_cast<size_t>(node.outputs[0]);
  if (is_result[output] != 0 || consumers[output].size() != 1) return -1;
  const int reader = consumers[output][0];
  const ir::Node& consumer = graph.nodes[static_cast<size_t>(reader)];
  return consumer.op->rewrite.is_activation == Activation::none ? -1 : reader;
}

}  // namespace

ir::Graph fuse_epilogues(const ir::Graph& graph) {
  const auto consumers = graph.consumers();
  std::vector<char> is_result(graph.values.size(), 0);
  for (int id : graph.results()) is_result[static_cast<size_t>(id)] = 1;

  ir::Rewriter rewriter(graph);
  std::vector<char> absorbed(graph.nodes.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (absorbed[n] != 0) continue;
    const int reader = fusable_consumer(graph, node, consumers, is_result);
    if (reader >= 0) {
      const ir::Node& consumer = graph.nodes[static_cast<size_t>(reader)];
      ir::Attrs fused =
          node.op->rewrite.fuse_activation(node.attrs, consumer.op->rewrite.is_activation);
      if (fused) {
        std::vector<int> outputs = node.outputs;
        outputs[0] = consumer.outputs[0];
        rewriter.copy_as(node, std::move(fused), outputs);
        absorbed[static_cast<size_t>(reader)] = 1;
        continue;
      }
    }
    rewriter.copy(node);
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
