#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

std::vector<char> needed_values(const ir::Graph& graph) {
  std::vector<char> needed(graph.values.size(), 0);
  for (int id : graph.results()) needed[static_cast<size_t>(id)] = 1;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const ir::Node& node = graph.nodes[n];
    bool alive = !node.op->memory.updates.empty();
    for (int output : node.outputs) alive = alive || needed[static_cast<size_t>(output)] != 0;
    if (!alive) continue;
    for (int output : node.outputs) needed[static_cast<size_t>(output)] = 1;
    for (int input : node.inputs) {
      if (input >= 0) needed[static_cast<size_t>(input)] = 1;
    }
  }
  return needed;
}

}  // namespace

ir::Graph remove_dead_code(const ir::Graph& graph) {
  const std::vector<char> needed = needed_values(graph);
  ir::Rewriter rewriter(graph, [&](int id) { return needed[static_cast<size_t>(id)] != 0; });
  for (const ir::Node& node : graph.nodes) {
    if (needed[static_cast<size_t>(node.outputs[0])] != 0) rewriter.copy(node);
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
