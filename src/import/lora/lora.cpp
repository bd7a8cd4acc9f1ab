#include <fmt/format.h>
#include <thimble/lora.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "import/lora/adapters.h"
#include "ir/rewrite.h"
#include "ir/wildcard.h"

namespace thimble {
namespace {

using importer::lora::Adapter;
using importer::lora::Layer;

bool is_target(const std::vector<std::string>& targets, const std::string& layer,
               std::set<std::string>& used) {
  bool found = false;
  for (const std::string& target : targets) {
    if (!ir::matches(target, layer) && !ir::matches("*." + target, layer)) continue;
    used.insert(target);
    found = true;
  }
  return found;
}

// Says how the layers that may have an adapter are called: by the last parts of their names.
std::string kinds_of(const ir::Graph& graph) {
  std::set<std::string> kinds;
  for (const ir::Node& node : graph.nodes) {
    const auto layer = importer::lora::layer_of(graph, node);
    if (layer) kinds.insert(layer->name.substr(layer->name.rfind('.') + 1));
  }
  if (kinds.empty()) {
    return "this model has none: adapters stand beside dense layers and matrices of weights whose "
           "inputs are floating point, not beside convolutions and layers on int8";
  }
  return fmt::format("layers of this model are called {}", fmt::join(kinds, ", "));
}

// The one of a layer whose weight another node read before, or a new one.
Value parameter(ir::Graph& graph, const std::string& name, const Shape& shape,
                const Initializer& init) {
  const Value known = graph.find_source(name);
  return known ? known : graph.source(name, {DType::f32, shape}, ir::Role::parameter, init);
}

Value scale_constant(ir::Graph& graph, const std::string& name, float number) {
  const Value known = graph.find_source(name);
  if (known) return known;
  const Value made = graph.source(name, {DType::f32, {1}}, ir::Role::constant);
  graph.values[static_cast<size_t>(made.id())].data = Array{number};
  return made;
}

// Adds the adapter of a layer that was copied.
void add_adapter(ir::Rewriter& rewriter, const ir::Node& node, const Layer& layer,
                 const Shape& weight, const LoraOptions& options) {
  ir::Graph& graph = rewriter.graph();
  graph.reopen_layer(node.layer);
  const int64_t in = weight[layer.in_out ? 0 : 1];
  const int64_t out = weight[layer.in_out ? 1 : 0];
  const Value down = parameter(graph, layer.name + importer::lora::kDown, {options.rank, in},
                               init::torch_default());
  const Value up =
      parameter(graph, layer.name + importer::lora::kUp, {out, options.rank}, init::zeros());
  const auto factor = static_cast<float>(options.alpha / static_cast<double>(options.rank));
  const Value scale = scale_constant(graph, layer.name + importer::lora::kScale, factor);
  const Value low = matmul(rewriter.map(node.input(0)), down, {.transpose_b = true}) * scale;
  const Value y = rewriter.map(node.outputs[0]) + matmul(low, up, {.transpose_b = true});
  rewriter.replace(node, {&y, 1});
  graph.end_layer();
}

// A fused activation would come before what the adapter adds.
void require_linear(const ir::Node& node, const Layer& layer) {
  if (importer::lora::is_linear(node)) return;
  throw Error("lora", fmt::format("{} applies an activation itself, so that no adapter can be "
                                  "added; describe the activation as an op of its own",
                                  layer.name));
}

// W + scale * B A, in the weight's own layout.
Array merged(const ir::Graph& graph, const Adapter& adapter) {
  const ir::ValueData& data = graph.data(adapter.layer.weight);
  const Array& weight = importer::lora::values_of(graph, adapter.layer.weight);
  if (!is_floating(data.type.dtype)) {
    throw Error("lora", fmt::format("{} is {}; adapters are merged into floating-point weights",
                                    *data.name, to_string(data.type.dtype)));
  }
  std::vector<float> sums = weight.floats();
  const std::vector<float> a = importer::lora::values_of(graph, adapter.down).floats();
  const std::vector<float> b = importer::lora::values_of(graph, adapter.up).floats();
  const auto scale = static_cast<double>(graph.data(adapter.scale).data->floats().at(0));
  const auto rank = static_cast<size_t>(graph.type(adapter.down).shape[0]);
  const auto in = static_cast<size_t>(graph.type(adapter.down).shape[1]);
  const auto out = static_cast<size_t>(graph.type(adapter.up).shape[0]);
  std::vector<double> row(in);
  for (size_t o = 0; o < out; ++o) {
    std::fill(row.begin(), row.end(), 0.0);
    for (size_t r = 0; r < rank; ++r) {
      const auto factor = scale * static_cast<double>(b[o * rank + r]);
      for (size_t i = 0; i < in; ++i) row[i] += factor * static_cast<double>(a[r * in + i]);
    }
    for (size_t i = 0; i < in; ++i) {
      float& to = sums[adapter.layer.in_out ? i * out + o : o * in + i];
      to = static_cast<float>(static_cast<double>(to) + row[i]);
    }
  }
  return Array(std::move(sums), data.type.shape).cast(data.type.dtype);
}

}  // namespace

Graph add_lora(const Graph& graph, const LoraOptions& options) {
  const ir::Graph& from = graph.ir();
  if (options.rank < 1 || options.rank > ir::kMostAttribute) {
    throw Error("lora", fmt::format("expected a rank of 1 or more, got {}", options.rank));
  }
  if (!std::isfinite(options.alpha) || options.alpha <= 0.0) {
    throw Error("lora", fmt::format("expected an alpha above 0, got {}", options.alpha));
  }
  for (const ir::ValueData& data : from.values) {
    if (data.producer < 0 && std::string_view(*data.name).ends_with(importer::lora::kUp)) {
      throw Error("lora", "the model has adapters; merge them first");
    }
  }
  ir::Rewriter rewriter(from);
  for (ir::ValueData& data : rewriter.graph().values) {
    if (data.role == ir::Role::parameter) data.trainable = false;
  }
  std::set<std::string> used;
  for (const ir::Node& node : from.nodes) {
    rewriter.copy(node);
    const std::optional<Layer> layer = importer::lora::layer_of(from, node);
    if (!layer || !is_target(options.targets, layer->name, used)) continue;
    require_linear(node, *layer);
    add_adapter(rewriter, node, *layer, from.type(layer->weight).shape, options);
  }
  for (const std::string& target : options.targets) {
    if (used.count(target) > 0) continue;
    throw Error("lora",
                fmt::format("there is no layer \"{}\" that an adapter could stand beside; {}",
                            target, kinds_of(from)));
  }
  if (options.targets.empty()) {
    throw Error("lora", "name the layers that get an adapter; " + kinds_of(from));
  }
  Graph made;
  made.ir() = std::move(rewriter).finish();
  return made;
}

Graph merge_lora(const Graph& graph) {
  const ir::Graph& from = graph.ir();
  const std::map<std::string, Adapter> adapters = importer::lora::adapters_of(from);
  // What stands in the place of the result of a node.
  std::vector<int> same(from.values.size());
  for (size_t id = 0; id < same.size(); ++id) same[id] = static_cast<int>(id);
  for (const auto& [name, adapter] : adapters) {
    for (const int n : adapter.sums) {
      const ir::Node& sum = from.nodes[static_cast<size_t>(n)];
      same[static_cast<size_t>(sum.outputs[0])] = sum.input(0);
    }
  }
  const auto origin = [&](int id) { return id < 0 ? id : same[static_cast<size_t>(id)]; };
  std::vector<char> needed(from.values.size(), 0);
  for (const int id : from.results()) needed[static_cast<size_t>(origin(id))] = 1;
  const auto is_needed = [&](const ir::Node& node) {
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [&](int id) { return needed[static_cast<size_t>(id)] != 0; });
  };
  for (size_t n = from.nodes.size(); n-- > 0;) {
    if (!is_needed(from.nodes[n])) continue;
    for (const int id : from.nodes[n].inputs) {
      if (id >= 0) needed[static_cast<size_t>(origin(id))] = 1;
    }
  }
  ir::Graph plain = from;
  for (ir::Node& node : plain.nodes) {
    for (int& id : node.inputs) id = origin(id);
  }
  for (auto& [name, id] : plain.outputs) id = origin(id);
  for (auto& [name, id] : plain.metrics) id = origin(id);
  if (plain.loss) plain.loss = origin(*plain.loss);
  for (const auto& [name, adapter] : adapters) {
    plain.values[static_cast<size_t>(adapter.layer.weight)].data = merged(from, adapter);
  }
  ir::Rewriter rewriter(plain, [&](int id) {
    return needed[static_cast<size_t>(id)] != 0 || plain.data(id).role == ir::Role::input;
  });
  for (const ir::Node& node : plain.nodes) {
    if (is_needed(node)) rewriter.copy(node);
  }
  Graph made;
  made.ir() = std::move(rewriter).finish();
  return made;
}

}  // namespace thimble
