#include <fmt/format.h>
#include <thimble/error.h>

#include <nlohmann/json.hpp>
#include <set>

#include "io/json/attrs.h"
#include "io/model/graph_json.h"
#include "io/model/initializer_fields.h"

namespace thimble::io {
namespace {

using Ordered = nlohmann::ordered_json;

std::string dumped(const Ordered& value) {
  try {
    return value.dump();
  } catch (const Ordered::exception&) {
    throw Error("model", fmt::format("a name is not UTF-8 in {}",
                                     value.dump(-1, ' ', true, Ordered::error_handler_t::replace)));
  }
}

bool is_of_a_model(const ir::ValueData& data) {
  return data.storage == ir::Storage::full && !data.recomputed && !data.fetched &&
         !data.sums_gradients && data.average_of->empty() && data.role != ir::Role::gradient;
}

Ordered value_json(const ir::ValueData& data) {
  if (!is_of_a_model(data)) {
    throw Error(data.name, "is a value of a training step; a model file holds the model alone");
  }
  Ordered value{
      {"name", *data.name}, {"role", to_string(data.role)}, {"dtype", to_string(data.type.dtype)}};
  value["shape"] = sizes_to_json(data.type.shape.dims());
  if (const Quantization* const q = data.type.quantization.get()) {
    value["quantization"] = {{"scales", q->scales}, {"zero_points", q->zero_points}};
    if (q->axis) value["quantization"]["axis"] = *q->axis;
  }
  if (data.producer >= 0) return value;
  if (!data.trainable) value["frozen"] = true;
  if (data.role == ir::Role::parameter || data.role == ir::Role::state) {
    value["initializer"] = attrs_to_json(ir::Attrs::of(InitializerFields{*data.init}));
  }
  return value;
}

Ordered node_json(const ir::Node& node) {
  Ordered inputs = Ordered::array();
  for (const int id : node.inputs) inputs.push_back(id < 0 ? Ordered() : Ordered(id));
  Ordered object{{"op", node.op->name}, {"inputs", inputs}, {"outputs", node.outputs}};
  if (node.attrs) object["attributes"] = attrs_to_json(node.attrs);
  if (node.layer >= 0) object["layer"] = node.layer;
  return object;
}

// Readers add values in the order of their numbers, and nodes in theirs.
void check_numbers(const ir::Graph& graph) {
  int next = 0;
  for (const ir::Node& node : graph.nodes) {
    for (const int id : node.outputs) {
      if (id < next) throw Error(node.op->name, "its outputs are not numbered as nodes are");
      next = id + 1;
    }
  }
}

Ordered named(const std::vector<std::pair<std::string, int>>& results) {
  Ordered list = Ordered::array();
  std::set<std::string_view> names;
  for (const auto& [name, id] : results) {
    if (!names.insert(name).second) throw Error(name, "names two results of the model");
    list.push_back({{"name", name}, {"value", id}});
  }
  return list;
}

// A list of many items as text; a tree of all of them would take several times as much memory.
template <class Items, class Make>
std::string list(const Items& items, const Make& make) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += dumped(make(item));
  }
  return text + "]";
}

}  // namespace

std::string graph_to_json(const ir::Graph& graph) {
  check_numbers(graph);
  const auto layer_json = [](const ir::Layer& layer) {
    return Ordered{{"name", layer.name}, {"type", layer.type}};
  };
  return fmt::format(
      R"({{"version":{},"values":{},"nodes":{},"layers":{},"loss":{},"outputs":{},"metrics":{}}})",
      kGraphVersion, list(graph.values, value_json), list(graph.nodes, node_json),
      list(graph.layers, layer_json), graph.loss ? std::to_string(*graph.loss) : "null",
      dumped(named(graph.outputs)), dumped(named(graph.metrics)));
}

}  // namespace thimble::io
