#include <algorithm>

#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// For each node that works on rows gathered from a table of fewer rows: the gathering node; else
// -1.
std::vector<int> gathered_before(const ir::Graph& graph) {
  const auto consumers = graph.consumers();
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) is_result[static_cast<size_t>(id)] = 1;
  std::vector<int> before(graph.nodes.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const int rows = node.input(0);
    if (node.op->flow.row_wise == nullptr || rows < 0 || node.outputs.size() != 1) continue;
    const int producer = graph.data(rows).producer;
    const auto reads = std::count(node.inputs.begin(), node.inputs.end(), rows);
    if (producer < 0 || is_result[static_cast<size_t>(rows)] != 0 || reads != 1 ||
        consumers[static_cast<size_t>(rows)].size() != 1) {
      continue;
    }
    const ir::Node& gather = graph.nodes[static_cast<size_t>(producer)];
    const int table =
        gather.op->flow.gathers == nullptr ? -1 : gather.op->flow.gathers(gather.attrs);
    if (table < 0) continue;
    std::vector<const ir::TensorType*> types;
    for (const int input : node.inputs) types.push_back(input < 0 ? nullptr : &graph.type(input));
    if (!node.op->flow.row_wise({node.attrs, types, {}})) continue;
    const Shape& taken = graph.type(rows).shape;
    const Shape& from = graph.type(gather.input(table)).shape;
    if (from.rank() == 2 && from[0] * taken[-1] < taken.elements()) {
      before[n] = producer;
    }
  }
  return before;
}

std::vector<Value> mapped(ir::Rewriter& rewriter, const ir::Node& node) {
  std::vector<Value> inputs;
  for (const int input : node.inputs) inputs.push_back(rewriter.map(input));
  return inputs;
}

}  // namespace

ir::Graph gather_late(const ir::Graph& graph) {
  const std::vector<int> before = gathered_before(graph);
  std::vector<char> moved(graph.nodes.size(), 0);
  for (const int gather : before) {
    if (gather >= 0) moved[static_cast<size_t>(gather)] = 1;
  }
  ir::Rewriter rewriter(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (moved[n] != 0) continue;
    if (before[n] < 0) {
      rewriter.copy(node);
      continue;
    }
    const ir::Node& gather = graph.nodes[static_cast<size_t>(before[n])];
    const auto table = static_cast<size_t>(gather.op->flow.gathers(gather.attrs));
    std::vector<Value> of_gather = mapped(rewriter, gather);
    std::vector<Value> of_node{of_gather[table]};
    for (size_t i = 1; i < node.inputs.size(); ++i) of_node.push_back(rewriter.map(node.inputs[i]));
    rewriter.graph().reopen_layer(node.layer);
    of_gather[table] = rewriter.graph().add(*node.op, node.attrs, of_node)[0];
    rewriter.replace(node, rewriter.graph().add(*gather.op, gather.attrs, of_gather));
    rewriter.graph().end_layer();
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
