#include "quantize/fake_nodes.h"

#include <algorithm>
#include <cmath>

#include "quantize/fold.h"

namespace thimble::quantizing {
namespace {

// The numbers of a value that is known, or made of known ones by an op for scales.
std::optional<std::vector<float>> known_scales(const ir::Graph& graph, int id) {
  const ir::ValueData& data = graph.data(id);
  if (has_values(data)) return data.data->floats();
  const ir::Node* const node = graph.producer_of(id);
  if (node == nullptr) return std::nullopt;
  std::vector<const Array*> inputs;
  for (const int input : node->inputs) {
    if (input < 0 || !has_values(graph.data(input))) return std::nullopt;
    inputs.push_back(&*graph.data(input).data);
  }
  return ops::trained_scales_of(*node, inputs);
}

}  // namespace

std::optional<FakeNode> fake_node(const ir::Graph& graph, const ir::Node& node) {
  const std::optional<ops::FakeSteps> steps = ops::fake_steps_of(node);
  if (!steps) return std::nullopt;
  std::optional<std::vector<float>> scales = known_scales(graph, node.inputs[1]);
  if (!scales) return std::nullopt;
  return FakeNode{node.inputs[0], *steps, std::move(*scales)};
}

bool is_prepared(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ir::Node& node) { return ops::fake_steps_of(node).has_value(); });
}

int64_t fake_integer(float value, float scale, const ops::FakeSteps& steps) {
  const float near = std::nearbyint(value / scale);
  const auto low = static_cast<float>(steps.low - steps.zero_point);
  const auto high = static_cast<float>(steps.high - steps.zero_point);
  if (std::isnan(near)) return steps.zero_point;
  return static_cast<int64_t>(std::clamp(near, low, high)) + steps.zero_point;
}

}  // namespace thimble::quantizing
