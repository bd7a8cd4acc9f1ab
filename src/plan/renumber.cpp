#include "plan/renumber.h"

#include "ir/rewrite.h"

namespace thimble::plan {

ir::Graph renumbered(ir::Graph graph) {
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    for (const int id : graph.nodes[static_cast<size_t>(n)].outputs) {
      graph.values[static_cast<size_t>(id)].producer = n;
    }
  }
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) rewriter.copy(node);
  return std::move(rewriter).finish();
}

}  // namespace thimble::plan
