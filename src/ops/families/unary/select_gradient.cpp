#include "ops/families/unary/select_gradient.h"

#include "ir/graph.h"

namespace thimble::ops {

std::optional<RoutedGradient> routed_gradient(Value dy, Value x) {
  ir::Graph& graph = dy.graph();
  const ir::Node* const gradient = graph.producer_of(dy.id());
  if (gradient == nullptr || gradient->op->gradient.routing.grad < 0) return {};
  const ir::Routing& routing = gradient->op->gradient.routing;
  const int places = gradient->input(routing.places);
  const ir::Node* const chooser = graph.producer_of(places);
  if (chooser == nullptr || chooser->op->flow.choice.values < 0) return {};
  const ir::Choice& choice = chooser->op->flow.choice;
  if (chooser->outputs[static_cast<size_t>(choice.places)] != places ||
      chooser->input(choice.input) != x.id()) {
    return {};
  }
  return RoutedGradient{graph.value(gradient->input(routing.grad)),
                        graph.value(chooser->outputs[static_cast<size_t>(choice.values)]), dy};
}

Value route(const RoutedGradient& gradient, Value dy) {
  ir::Graph& graph = dy.graph();
  const ir::Node node = *graph.producer_of(gradient.routed.id());
  std::vector<Value> inputs;
  for (const int id : node.inputs) inputs.push_back(graph.value(id));
  inputs[static_cast<size_t>(node.op->gradient.routing.grad)] = dy;
  return graph.add(*node.op, node.attrs, inputs)[0];
}

}  // namespace thimble::ops
