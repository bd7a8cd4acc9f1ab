#include <algorithm>

#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// For each node: whether its output is computed a second time after the loss.
std::vector<char> rebuilt_nodes(const ir::Graph& graph, int loss_node) {
  const auto consumers = graph.consumers();
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) is_result[static_cast<size_t>(id)] = 1;
  const auto is_read = [&](int id, bool after_loss) {
    const std::vector<int>& readers = consumers[static_cast<size_t>(id)];
    return std::any_of(readers.begin(), readers.end(),
                       [&](int reader) { return (reader > loss_node) == after_loss; });
  };
  std::vector<char> rebuilt(graph.nodes.size(), 0);
  for (int n = 0; n < loss_node; ++n) {
    const ir::Node& node = graph.nodes[static_cast<size_t>(n)];
    if (!node.op->elementwise || node.op->reads_rng || !node.op->updates.empty() ||
        node.outputs.size() != 1) {
      continue;
    }
    const int output = node.outputs[0];
    // Kept all the same: read by the backward part, and not itself computed twice.
    const bool from_what_is_kept = std::all_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
      if (id < 0 || ir::is_persistent(graph.data(id).role)) return true;
      const int producer = graph.data(id).producer;
      return is_read(id, true) && (producer < 0 || rebuilt[static_cast<size_t>(producer)] == 0);
    });
    rebuilt[static_cast<size_t>(n)] = from_what_is_kept &&
                                      is_result[static_cast<size_t>(output)] == 0 &&
                                      is_read(output, false) && is_read(output, true);
  }
  return rebuilt;
}

}  // namespace

ir::Graph rebuild_cheap_values(const ir::Graph& graph) {
  if (!graph.loss || graph.data(*graph.loss).producer < 0) return graph;
  const int loss_node = graph.data(*graph.loss).producer;
  std::vector<char> waiting = rebuilt_nodes(graph, loss_node);
  ir::Rewriter rewriter(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (static_cast<int>(n) > loss_node) {
      for (const int id : node.inputs) {
        const int producer = id < 0 ? -1 : graph.data(id).producer;
        if (producer < 0 || producer >= loss_node || waiting[static_cast<size_t>(producer)] == 0) {
          continue;
        }
        // The first of the backward part that reads it: from here on the copy stands for it.
        rewriter.copy(graph.nodes[static_cast<size_t>(producer)]);
        waiting[static_cast<size_t>(producer)] = 0;
      }
    }
    rewriter.copy(node);
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
