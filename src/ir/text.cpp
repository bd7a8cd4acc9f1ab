#include <fmt/format.h>

#include "ir/graph.h"

namespace thimble::ir {
namespace {

const char* to_string(Storage storage) {
  switch (storage) {
    case Storage::full:
      return "";
    case Storage::bits:
      return "bits";
    case Storage::bits16:
      return "16 bits";
    case Storage::from_bits16:
      return "from 16 bits";
  }
  return "";
}

// "%3 f32[2, 3] recomputed"
std::string value_text(const Graph& graph, int id) {
  const ValueData& data = graph.data(id);
  std::string out = fmt::format("%{} {}", id, to_string(data.type));
  if (data.storage != Storage::full) out += fmt::format(" {}", to_string(data.storage));
  if (data.recomputed) out += " recomputed";
  if (data.fetched) out += " fetched";
  return out;
}

std::string attrs_text(const Attrs& attrs) {
  const std::string text = attrs.text();
  return text.empty() ? "" : " {" + text + "}";
}

// " with matmul {transpose_a=true} in tiles of 48 rows"
std::string tiling_text(const Node& node) {
  if (!node.tiled) return "";
  return fmt::format(" with {}{} in tiles of {} rows", node.tiled->op->name,
                     attrs_text(node.tiled->attrs), node.tiled->rows);
}

}  // namespace

std::string label(const ValueData& data) {
  std::string out = *data.name;
  if (data.storage != Storage::full) out += fmt::format(" ({})", to_string(data.storage));
  if (data.recomputed) out += " (recomputed)";
  if (data.fetched) out += " (fetched)";
  return out;
}

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
    out += fmt::format("{} = {}({}){}{}\n", outputs, node.op->name, inputs, attrs_text(node.attrs),
                       tiling_text(node));
  }
  if (graph.loss) out += fmt::format("minimize %{}\n", *graph.loss);
  for (const auto& [name, id] : graph.outputs) out += fmt::format("output \"{}\" %{}\n", name, id);
  for (const auto& [name, id] : graph.metrics) out += fmt::format("metric \"{}\" %{}\n", name, id);
  return out;
}

}  // namespace thimble::ir
