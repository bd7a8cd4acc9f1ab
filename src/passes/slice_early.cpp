#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// Whether the node takes slices, by indices that are known beforehand, of what is not stored
// anyway.
bool can_be_early(const ir::Graph& graph, const ir::Node& node) {
  if (node.op->gradient.to_slices == nullptr || node.input(1) < 0) return false;
  const ir::ValueData& from = graph.data(node.input(0));
  const bool is_stored = from.producer < 0 && ir::is_persistent(from.role);
  return !is_stored && graph.data(node.input(1)).role == ir::Role::constant;
}

}  // namespace

ir::Graph slice_early(const ir::Graph& graph) {
  // Slices by the node that computes what they are taken from; the last place: of sources.
  std::vector<std::vector<size_t>> slices(graph.nodes.size() + 1);
  std::vector<char> moves(graph.nodes.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (!can_be_early(graph, node)) continue;
    const int producer = graph.data(node.input(0)).producer;
    slices[producer < 0 ? graph.nodes.size() : static_cast<size_t>(producer)].push_back(n);
    moves[n] = 1;
  }
  ir::Rewriter rewriter(graph);
  std::vector<size_t> computed{graph.nodes.size()};  // whose slices are to be taken
  const auto take_slices = [&] {
    while (!computed.empty()) {
      const size_t producer = computed.back();
      computed.pop_back();
      for (const size_t n : slices[producer]) {
        rewriter.copy(graph.nodes[n]);
        computed.push_back(n);
      }
    }
  };
  take_slices();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (moves[n] != 0) continue;
    rewriter.copy(graph.nodes[n]);
    computed.push_back(n);
    take_slices();
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
