#include "ops/families/unary/select_gradient.h"

#include "ir/graph.h"

namespace thimble::ops {
namespace {

// The node that computes the value, or null.
const ir::Node* producer_of(const ir::Graph& graph, int id) {
  const int producer = id < 0 ? -1 : graph.data(id).producer;
  return producer < 0 ? nullptr : &graph.nodes[static_cast<size_t>(producer)];
}

}  // namespace

std::optional<RoutedGradient> routed_gradient(Value dy, Value x) {
  ir::Graph& graph = dy.graph();
  const ir::Node* const gradient = producer_of(graph, dy.id());
  if (gradient == nullptr || gradient->op->gradient.routing.grad < 0) return {};
  const ir::Routing& routing = gradient->op->gradient.routing;
  const int places = gradient->input(routing.places);
  const ir::Node* const chooser = producer_of(graph, places);
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
  const ir::Node node = *producer_of(graph, gradient.routed.id());
  std::vector<Value> inputs;
  for (const int id : node.inputs) inputs.push_back(graph.value(id));
  inputs[static_cast<size_t>(node.op->gradient.routing.grad)] = dy;
  return graph.add(*node.op, node.attrs, inputs)[0];
}

}  // namespace thimble::ops
