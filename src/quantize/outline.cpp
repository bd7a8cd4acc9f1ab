#include "quantize/outline.h"

#include <algorithm>

#include "ops/families/quantized/fake.h"
#include "quantize/samples.h"

namespace thimble::quantizing {
namespace {

std::vector<char> leads_to_output(const ir::Graph& graph) {
  std::vector<char> needed(graph.values.size(), graph.outputs.empty() ? 1 : 0);
  for (const auto& [name, id] : graph.outputs) needed[static_cast<size_t>(id)] = 1;
  std::vector<char> leads(graph.nodes.size(), 0);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const ir::Node& node = graph.nodes[n];
    if (std::none_of(node.outputs.begin(), node.outputs.end(),
                     [&](int id) { return needed[static_cast<size_t>(id)] != 0; })) {
      continue;
    }
    leads[n] = 1;
    for (const int id : node.inputs) {
      if (id >= 0) needed[static_cast<size_t>(id)] = 1;
    }
  }
  return leads;
}

// Values that depend on a label.
std::vector<char> of_labels(const ir::Graph& graph) {
  std::vector<char> depends(graph.values.size(), 0);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    depends[id] = graph.values[id].role == ir::Role::label ? 1 : 0;
  }
  for (const ir::Node& node : graph.nodes) {
    const bool any = std::any_of(node.inputs.begin(), node.inputs.end(), [&](int id) {
      return id >= 0 && depends[static_cast<size_t>(id)] != 0;
    });
    for (const int id : node.outputs) depends[static_cast<size_t>(id)] = any ? 1 : 0;
  }
  return depends;
}

bool can_be_observed(const ir::Graph& graph, int id) {
  return graph.type(id).dtype == DType::f32 && is_per_sample(graph.type(id));
}

}  // namespace

Outline outline_of(const ir::Graph& graph) {
  Outline made{leads_to_output(graph), std::vector<int>(graph.nodes.size(), -1), {}};
  const std::vector<char> labelled = of_labels(graph);
  const std::vector<std::vector<int>> consumers = graph.consumers();
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) is_result[static_cast<size_t>(id)] = 1;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const bool is_input = graph.values[id].role == ir::Role::input;
    if (is_input && can_be_observed(graph, static_cast<int>(id))) {
      made.observed.push_back(static_cast<int>(id));
    }
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const auto y = static_cast<size_t>(node.outputs[0]);
    if (labelled[y] != 0) made.is_inner[n] = 0;
    if (made.is_inner[n] == 0) continue;
    if (is_result[y] == 0 && consumers[y].size() == 1) {
      const ir::Node& reader = graph.nodes[static_cast<size_t>(consumers[y][0])];
      const auto clamps = reader.op->quantized.clamps;
      const bool is_clamped =
          node.op->quantized.rescales && clamps != nullptr && clamps(reader.attrs);
      if (is_clamped || ops::fake_steps_of(reader)) made.clamp[n] = consumers[y][0];
    }
    for (size_t i = made.clamp[n] >= 0 ? 1 : 0; i < node.outputs.size(); ++i) {
      if (can_be_observed(graph, node.outputs[i])) made.observed.push_back(node.outputs[i]);
    }
  }
  return made;
}

}  // namespace thimble::quantizing
