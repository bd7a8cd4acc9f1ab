#include "import/lora/adapters.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

namespace thimble::importer::lora {
namespace {

constexpr std::string_view kWeight = ".weight";

const ir::Node* producer(const ir::Graph& graph, int id) {
  const int node = id < 0 ? -1 : graph.data(id).producer;
  return node < 0 ? nullptr : &graph.nodes[static_cast<size_t>(node)];
}

bool is_parameter(const ir::Graph& graph, int id) {
  return id >= 0 && graph.data(id).producer < 0 && graph.data(id).role == ir::Role::parameter;
}

// Input of a node, a source whose name ends so; -1: there is none.
int input_named(const ir::Graph& graph, const ir::Node& node, std::string_view end) {
  for (const int id : node.inputs) {
    if (id >= 0 && graph.data(id).producer < 0 &&
        std::string_view(*graph.data(id).name).ends_with(end)) {
      return id;
    }
  }
  return -1;
}

// The product with lora_B that gives this value, if any.
const ir::Node* rise_of(const ir::Graph& graph, int id) {
  const ir::Node* const node = producer(graph, id);
  return node != nullptr && input_named(graph, *node, kUp) >= 0 ? node : nullptr;
}

// The adapter whose result is the value `given`, added to `base`.
std::optional<Adapter> adapter_of(const ir::Graph& graph, int base, int given) {
  const ir::Node* const rise = rise_of(graph, given);
  const ir::Node* const layer_node = producer(graph, base);
  if (rise == nullptr || layer_node == nullptr) return std::nullopt;
  const std::optional<Layer> layer = layer_of(graph, *layer_node);
  const ir::Node* const scaled = producer(graph, rise->input(0));
  if (!layer || scaled == nullptr) return std::nullopt;
  Adapter adapter;
  adapter.layer = *layer;
  adapter.up = input_named(graph, *rise, layer->name + kUp);
  adapter.scale = input_named(graph, *scaled, layer->name + kScale);
  for (const int id : scaled->inputs) {
    const ir::Node* const down = producer(graph, id);
    if (down != nullptr) adapter.down = input_named(graph, *down, layer->name + kDown);
  }
  if (adapter.up < 0 || adapter.scale < 0 || adapter.down < 0) return std::nullopt;
  return adapter;
}

}  // namespace

std::optional<Layer> layer_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.op->layer == nullptr) return std::nullopt;
  std::vector<const ir::TensorType*> inputs;
  for (const int id : node.inputs) inputs.push_back(id < 0 ? nullptr : &graph.type(id));
  const auto parts = node.op->layer({node.attrs, inputs, {}});
  if (!parts || parts->weight < 1 || parts->input_channels < 0) return std::nullopt;
  const int weight = node.input(parts->weight);
  if (!is_parameter(graph, weight) || graph.type(weight).shape.rank() != 2) return std::nullopt;
  if (!is_floating(graph.type(node.input(0)).dtype)) return std::nullopt;
  std::string name = *graph.data(weight).name;
  if (name.ends_with(kDown) || name.ends_with(kUp)) return std::nullopt;
  if (name.ends_with(kWeight)) name.resize(name.size() - kWeight.size());
  return Layer{std::move(name), weight, parts->input_channels == 0};
}

bool is_linear(const ir::Node& node) {
  return node.op->rewrite.fuse_activation == nullptr ||
         node.op->rewrite.fuse_activation(node.attrs, Activation::relu);
}

std::map<std::string, Adapter> adapters_of(const ir::Graph& graph) {
  std::map<std::string, Adapter> all;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (node.inputs.size() != 2) continue;
    const std::optional<Adapter> found = adapter_of(graph, node.input(0), node.input(1));
    if (!found) continue;
    Adapter& known = all.emplace(found->layer.name, *found).first->second;
    known.sums.push_back(static_cast<int>(n));
  }
  for (const ir::ValueData& data : graph.values) {
    const std::string_view name = *data.name;
    if (data.producer >= 0 || !name.ends_with(kUp)) continue;
    const std::string layer(name.substr(0, name.size() - std::string_view(kUp).size()));
    if (all.count(layer) == 0) {
      throw Error("lora", fmt::format("the adapter of {} does not stand beside its layer", layer));
    }
  }
  if (all.empty()) throw Error("lora", "the model has no adapters");
  return all;
}

const Array& values_of(const ir::Graph& graph, int id) {
  const ir::ValueData& data = graph.data(id);
  if (data.data->elements() == data.type.shape.elements()) return *data.data;
  throw Error("lora", fmt::format("the parameter {} has no values; read the model with load_model",
                                  *data.name));
}

}  // namespace thimble::importer::lora
