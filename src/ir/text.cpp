#include <fmt/format.h>

#include "ir/graph.h"

namespace thimble::ir {
namespace {

std::string value_text(const Graph& graph, int id) {
  return fmt::format("%{} {}", id, to_string(graph.type(id)));
}

}  // namespace

std::string text(const Graph& graph) {
  std::string out;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ValueData& data = graph.values[id];
    if (data.producer >= 0) continue;
    out += fmt::format("{} = {} \"{}\"{}\n", value_text(graph, static_cast<int>(id)),
                       to_string(data.role), data.name,
                       data.role == Role::parameter && !data.trainable ? " frozen" : "");
  }
  for (const Node& node : graph.nodes) {
    std::string outputs;
    for (int id : node.outputs) {
      outputs += (outputs.empty() ? "" : ", ") + value_text(graph, id);
    }
    std::string inputs;
    for (int id : node.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + (id < 0 ? "none" : fmt::format("%{}", id));
    }
    const std::string attrs = node.attrs.text();
    out += fmt::format("{} = {}({}){}\n", outputs, node.op->name, inputs,
                       attrs.empty() ? "" : " {" + attrs + "}");
  }
  if (graph.loss) out += fmt::format("minimize %{}\n", *graph.loss);
  for (const auto& [name, id] : graph.outputs) out += fmt::format("output \"{}\" %{}\n", name, id);
  for (const auto& [name, id] : graph.metrics) out += fmt::format("metric \"{}\" %{}\n", name, id);
  return out;
}

}  // namespace thimble::ir
