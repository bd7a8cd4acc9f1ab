#include <fmt/format.h>
#include <thimble/graph.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/summary.h"

namespace thimble {
namespace ir {
namespace {

// The name of the layer (or source) a value comes from.
std::string origin(const Graph& graph, int id) {
  const Node* const producer = graph.producer_of(id);
  return producer == nullptr || producer->layer < 0
             ? *graph.data(id).name
             : graph.layers[static_cast<size_t>(producer->layer)].name;
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

std::vector<ParameterSummary> summarize_parameters(const Graph& graph) {
  std::map<int, std::string> layers;
  for (const Node& node : graph.nodes) {
    if (node.layer < 0) continue;
    for (const int id : node.inputs) {
      layers.emplace(id, graph.layers[static_cast<size_t>(node.layer)].name);
    }
  }
  std::vector<ParameterSummary> rows;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ValueData& data = graph.values[id];
    if (data.producer >= 0 || data.role != Role::parameter) continue;
    const auto layer = layers.find(static_cast<int>(id));
    rows.push_back({.name = data.name,
                    .layer = layer == layers.end() ? std::string() : layer->second,
                    .dtype = data.type.dtype,
                    .shape = data.type.shape,
                    .trained = data.trainable,
                    .bytes = size_bytes(data.type.dtype, data.type.shape)});
  }
  return rows;
}

}  // namespace ir

namespace {

// Columns of text under their headings, of which those of `right` end at the same place.
template <size_t columns>
std::string table(const std::vector<std::array<std::string, columns>>& rows, size_t right) {
  std::array<size_t, columns> widths{};
  for (const auto& row : rows) {
    for (size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      line += c == 0 ? "" : "  ";
      line += c == right ? fmt::format("{:>{}}", row[c], widths[c])
                         : fmt::format("{:<{}}", row[c], widths[c]);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

std::string parameter_table(const ir::Graph& graph) {
  std::vector<std::array<std::string, 6>> rows{
      {"parameter", "shape", "type", "bytes", "training", "layer"}};
  for (const ir::ParameterSummary& row : ir::summarize_parameters(graph)) {
    rows.push_back({row.name, to_string(row.shape), to_string(row.dtype),
                    fmt::format("{}", row.bytes), row.trained ? "trained" : "frozen", row.layer});
  }
  return table(rows, 3);
}

}  // namespace

std::string Graph::summary(bool parameters) const {
  const std::vector<ir::LayerSummary> rows = ir::summarize(*graph_);
  std::vector<std::array<std::string, 5>> cells{
      {"layer", "type", "output shape", "parameters", "inputs"}};
  int64_t total = 0;
  int64_t frozen = 0;
  for (const ir::LayerSummary& row : rows) {
    std::string inputs;
    for (const std::string& name : row.inputs) inputs += (inputs.empty() ? "" : ", ") + name;
    cells.push_back({row.name, row.type, to_string(row.output),
                     fmt::format("{}", row.parameters + row.frozen_parameters), inputs});
    total += row.parameters + row.frozen_parameters;
    frozen += row.frozen_parameters;
  }
  std::string out = table(cells, 3);
  out += fmt::format("{} parameters", total);
  if (frozen > 0) out += fmt::format(", {} of them frozen", frozen);
  out += '\n';
  if (parameters) out += '\n' + parameter_table(*graph_);
  return out;
}

}  // namespace thimble
