#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {

ir::Graph specialize(const ir::Graph& graph, ir::Phase phase) {
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) {
    std::vector<Value> replaced;
    if (node.op->rewrite.specialize != nullptr) {
      std::vector<Value> inputs;
      for (int input : node.inputs) inputs.push_back(rewriter.map(input));
      rewriter.graph().reopen_layer(node.layer);
      replaced = node.op->rewrite.specialize({rewriter.graph(), node.attrs, inputs}, phase);
      rewriter.graph().end_layer();
    }
    if (replaced.empty()) {
      rewriter.copy(node);
    } else {
      rewriter.replace(node, replaced);
    }
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
