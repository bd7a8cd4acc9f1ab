#include <fmt/format.h>
#include <thimble/graph.h>

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/summary.h"

namespace thimble {
namespace ir {
namespace {

// The name of the layer (or source) a value comes from.
std::string origin(const Graph& graph, int id) {
  const ValueData& data = graph.data(id);
  if (data.producer < 0) return data.name;
  const int layer = graph.nodes[static_cast<size_t>(data.producer)].layer;
  return layer < 0 ? *data.name : graph.layers[static_cast<size_t>(layer)].name;
}

void add_input(LayerSummary& row, const std::string& name) {
  if (std::find(row.inputs.begin(), row.inputs.end(), name) == row.inputs.end()) {
    row.inputs.push_back(name);
  }
}

}  // namespace

std::vector<LayerSummary> summarize(const Graph& graph) {
  std::vector<LayerSummary> rows;
  for (const ValueData& data : graph.values) {
    if (data.role == Role::input || data.role == Role::label) {
      rows.push_back({data.name, to_string(data.role), data.type.shape, 0, 0, {}});
    }
  }
  const size_t first_layer = rows.size();
  for (const Layer& layer : graph.layers) rows.push_back({layer.name, layer.type, {}, 0, 0, {}});
  std::set<int> counted;
  std::set<size_t> used;
  for (const Node& node : graph.nodes) {
    if (node.layer < 0) continue;
    const size_t index = first_layer + static_cast<size_t>(node.layer);
    LayerSummary& row = rows[index];
    used.insert(index);
    for (int id : node.inputs) {
      if (id < 0) continue;
      const ValueData& data = graph.data(id);
      if (data.role == Role::parameter) {
        if (!counted.insert(id).second) continue;
        const int64_t n = data.type.shape.elements();
        (data.trainable ? row.parameters : row.frozen_parameters) += n;
      } else if (!is_persistent(data.role) && data.role != Role::scalar &&
                 origin(graph, id) != row.name) {
        add_input(row, origin(graph, id));
      }
    }
    // An update writes the layer's own storage, not its result.
    if (node.op->memory.updates.empty()) row.output = graph.type(node.outputs[0]).shape;
  }
  std::vector<LayerSummary> kept;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i < first_layer || used.count(i) > 0) kept.push_back(std::move(rows[i]));
  }
  return kept;
}

}  // namespace ir

std::string Graph::summary() const {
  const std::vector<ir::LayerSummary> rows = ir::summarize(*graph_);
  size_t widths[4] = {5, 4, 12, 10};
  std::vector<std::array<std::string, 5>> cells;
  int64_t total = 0;
  int64_t frozen = 0;
  for (const ir::LayerSummary& row : rows) {
    std::string inputs;
    for (const std::string& name : row.inputs) inputs += (inputs.empty() ? "" : ", ") + name;
    cells.push_back({row.name, row.type, to_string(row.output),
                     fmt::format("{}", row.parameters + row.frozen_parameters), inputs});
    for (size_t c = 0; c < 4; ++c) widths[c] = std::max(widths[c], cells.back()[c].size());
    total += row.parameters + row.frozen_parameters;
    frozen += row.frozen_parameters;
  }
  const auto line = [&widths](const std::array<std::string, 5>& c) {
    std::string text = fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {}", c[0], widths[0], c[1],
                                   widths[1], c[2], widths[2], c[3], widths[3], c[4]);
    while (text.ends_with(' ')) text.pop_back();
    return text + '\n';
  };
  std::string out = line({"layer", "type", "output shape", "parameters", "inputs"});
  for (const auto& row : cells) out += line(row);
  out += fmt::format("{} parameters", total);
  if (frozen > 0) out += fmt::format(", {} of them frozen", frozen);
  out += '\n';
  return out;
}

}  // namespace thimble
