#include <algorithm>

#include "autodiff/type_change.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// The nodes whose results a node works on: rows gathered from a table of fewer rows, perhaps cast
// to 16 bits.
struct Gathered {
  int gather = -1;  // -1: none
  int cast = -1;    // -1: none
};

bool casts_to_16_bits(const ir::Graph& graph, const ir::Node& node) {
  const DType to = graph.type(node.outputs[0]).dtype;
  return node.op->gradient.to_type != nullptr && (to == DType::f16 || to == DType::bf16);
}

class Search {
 public:
  explicit Search(const ir::Graph& graph) : graph_(graph), read_once_(graph.read_once()) {}

  [[nodiscard]] Gathered before(const ir::Node& node) const {
    if (node.op->flow.row_wise == nullptr || node.outputs.size() != 1) return {};
    Gathered found;
    found.gather = only_producer(node);
    if (found.gather < 0) return {};
    if (casts_to_16_bits(graph_, node_at(found.gather))) {
      found.cast = found.gather;
      found.gather = only_producer(node_at(found.cast));
      if (found.gather < 0) return {};
    }
    const ir::Node& gather = node_at(found.gather);
    const int table =
        gather.op->flow.gathers == nullptr ? -1 : gather.op->flow.gathers(gather.attrs);
    if (table < 0) return {};
    std::vector<const ir::TensorType*> types;
    for (const int input : node.inputs) types.push_back(input < 0 ? nullptr : &graph_.type(input));
    if (!node.op->flow.row_wise({node.attrs, types, {}})) return {};
    const Shape& taken = graph_.type(node.inputs[0]).shape;
    const Shape& from = graph_.type(gather.input(table)).shape;
    return from.rank() == 2 && from[0] * taken[-1] < taken.elements() ? found : Gathered{};
  }

 private:
  [[nodiscard]] const ir::Node& node_at(int n) const {
    return graph_.nodes[static_cast<size_t>(n)];
  }

  // The node that computes input 0, if this node alone reads it, and once; else -1.
  [[nodiscard]] int only_producer(const ir::Node& node) const {
    const int id = node.input(0);
    return id < 0 || read_once_[static_cast<size_t>(id)] == 0 ? -1 : graph_.data(id).producer;
  }

  const ir::Graph& graph_;
  std::vector<char> read_once_;  // by value
};

std::vector<Value> mapped(ir::Rewriter& rewriter, const ir::Node& node) {
  std::vector<Value> inputs;
  for (const int input : node.inputs) inputs.push_back(rewriter.map(input));
  return inputs;
}

}  // namespace

ir::Graph gather_late(const ir::Graph& graph) {
  const Search search(graph);
  std::vector<Gathered> before;
  std::vector<char> moved(graph.nodes.size(), 0);
  for (const ir::Node& node : graph.nodes) {
    before.push_back(search.before(node));
    for (const int n : {before.back().gather, before.back().cast}) {
      if (n >= 0) moved[static_cast<size_t>(n)] = 1;
    }
  }
  ir::Rewriter rewriter(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (moved[n] != 0) continue;
    if (before[n].gather < 0) {
      rewriter.copy(node);
      continue;
    }
    const ir::Node& gather = graph.nodes[static_cast<size_t>(before[n].gather)];
    const auto table = static_cast<size_t>(gather.op->flow.gathers(gather.attrs));
    std::vector<Value> of_gather = mapped(rewriter, gather);
    std::vector<Value> of_node{of_gather[table]};
    for (size_t i = 1; i < node.inputs.size(); ++i) of_node.push_back(rewriter.map(node.inputs[i]));
    rewriter.graph().reopen_layer(node.layer);
    const Value product = rewriter.graph().add(*node.op, node.attrs, of_node)[0];
    of_gather[table] = before[n].cast < 0 ? product
                                          : autodiff::with_type(rewriter.graph(), product,
                                                                graph.type(node.outputs[0]).dtype);
    rewriter.replace(node, rewriter.graph().add(*gather.op, gather.attrs, of_gather));
    rewriter.graph().end_layer();
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::passes
