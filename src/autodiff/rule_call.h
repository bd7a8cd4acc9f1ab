// The arguments of a node's gradient rule.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace thimble::autodiff {

// Owns the lists that a VjpContext refers to.
struct RuleCall {
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Value> grads;
  std::unique_ptr<bool[]> needs;  // a vector of bool has no span

  // wanted(id): whether an input needs a gradient. grad(id): the gradient of an output, or none.
  template <class Needs, class Grad>
  RuleCall(ir::Graph& graph, const ir::Node& node, const Needs& wanted, const Grad& grad)
      : needs(std::make_unique<bool[]>(node.inputs.size() + 1)) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      inputs.push_back(graph.value(id));
      needs[i] = id >= 0 && wanted(id);
    }
    for (const int id : node.outputs) {
      outputs.push_back(graph.value(id));
      grads.push_back(grad(id));
    }
  }

  [[nodiscard]] std::span<const bool> needed() const { return {needs.get(), inputs.size()}; }
  // The gradients of the inputs, as the rule makes them.
  [[nodiscard]] std::vector<Value> run(const ir::Node& node) const {
    return node.op->gradient.vjp({node.attrs, inputs, outputs, grads, needed()});
  }
};

}  // namespace thimble::autodiff
