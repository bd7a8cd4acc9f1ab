#include "quantize/fold.h"

#include <algorithm>
#include <map>

#include "ir/rewrite.h"
#include "ops/families/quantized/fake.h"
#include "quantize/samples.h"

namespace thimble::quantizing {
namespace {

std::vector<const ir::TensorType*> types_of(const ir::Graph& graph, const ir::Node& node) {
  std::vector<const ir::TensorType*> types;
  for (const int id : node.inputs) types.push_back(id < 0 ? nullptr : &graph.type(id));
  return types;
}

// What the node does to channels, if its other inputs are known.
std::optional<ir::ChannelScaling> scaling_of(const ir::Graph& graph, const ir::Node& node) {
  const auto rule = node.op->quantized.scaling;
  if (rule == nullptr) return std::nullopt;
  std::vector<const Array*> values(node.op->signature.inputs.size(), nullptr);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] < 0) continue;
    const ir::ValueData& data = graph.data(node.inputs[i]);
    if (!has_values(data)) return std::nullopt;
    values[i] = &*data.data;
  }
  return rule(node.attrs, values);
}

// The attributes with the activation, if the op has none of its own yet.
std::optional<ir::Attrs> with_activation(const ir::Node& node, Activation activation) {
  const auto fuse = node.op->rewrite.fuse_activation;
  if (fuse == nullptr) {
    return activation == Activation::none ? std::optional(node.attrs) : std::nullopt;
  }
  if (!fuse(node.attrs, Activation::relu)) return std::nullopt;
  return activation == Activation::none ? node.attrs : fuse(node.attrs, activation);
}

Array scaled(const Array& weight, const ChannelWalk& walk, const std::vector<double>& scale) {
  std::vector<float> values = weight.floats();
  for (size_t i = 0; i < values.size(); ++i) {
    const double by = scale[walk.of(static_cast<int64_t>(i))];
    values[i] = static_cast<float>(static_cast<double>(values[i]) * by);
  }
  return {std::move(values), weight.shape()};
}

// A copy of the source for one reader.
int own_copy(ir::Graph& graph, int id) {
  ir::ValueData data = graph.data(id);
  data.name = free_name(graph, *data.name);
  return graph.copy_source(data).id();
}

class Folding {
 public:
  explicit Folding(const ir::Graph& graph)
      : graph_(graph), dropped_(graph.nodes.size(), 0), is_result_(graph.values.size(), 0) {
    for (const int id : graph.results()) is_result_[static_cast<size_t>(id)] = 1;
  }

  ir::Graph run() && {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      while (fold_reader(n)) {
      }
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (dropped_[n] == 0) add_layer(n);
    }
    ir::Rewriter rewriter(graph_);
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (dropped_[n] != 0) continue;
      const ir::Node& node = graph_.nodes[n];
      const auto layer = layers_.find(n);
      if (layer == layers_.end()) {
        rewriter.copy(node);
        continue;
      }
      const auto& [weight, bias, activation] = layer->second;
      rewriter.graph().reopen_layer(node.layer);
      const Value y = node.op->quantized.scaling_layer(
          rewriter.map(node.inputs[0]), rewriter.map(weight), rewriter.map(bias), activation);
      rewriter.graph().end_layer();
      rewriter.replace(node, {&y, 1});
    }
    return std::move(rewriter).finish();
  }

 private:
  struct OwnLayer {
    int weight = -1;
    int bias = -1;
    Activation activation = Activation::none;
  };

  // A scaling that no layer before it takes over gets weights of its own.
  void add_layer(size_t n) {
    const ir::Node node = graph_.nodes[n];
    const int x = node.inputs[0];
    if (node.op->quantized.scaling_layer == nullptr || !is_per_sample(graph_.type(x))) return;
    const std::optional<ir::ChannelScaling> scaling = scaling_of(graph_, node);
    if (!scaling) return;
    const auto count = static_cast<int64_t>(scaling->scale.size());
    const auto source = [&](const char* what, const std::vector<double>& values,
                            const Shape& shape) {
      bool trainable = false;
      for (size_t i = 1; i < node.inputs.size(); ++i) {
        trainable = trainable || (node.inputs[i] >= 0 && graph_.data(node.inputs[i]).trainable);
      }
      const std::string& name = graph_.data(node.outputs[0]).name;
      const Value made = graph_.source(free_name(graph_, name + what), {DType::f32, shape},
                                       ir::Role::parameter, init::zeros());
      ir::ValueData& data = graph_.values[static_cast<size_t>(made.id())];
      data.trainable = trainable;
      data.data = Array(std::vector<float>(values.begin(), values.end()), shape);
      return made.id();
    };
    OwnLayer layer{.activation = scaling->activation};
    layer.weight = source(".weight", scaling->scale, {count, 1, 1, 1});
    layer.bias = source(".bias", scaling->shift, {count});
    layers_.emplace(n, layer);
  }

  // The node that alone reads the first result of a node, as its first input; -1: there is none.
  int only_reader(const ir::Node& node) const {
    const int y = node.outputs[0];
    if (static_cast<size_t>(y) < is_result_.size() && is_result_[static_cast<size_t>(y)] != 0) {
      return -1;
    }
    int reader = -1;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const ir::Node& other = graph_.nodes[n];
      const auto reads = std::count(other.inputs.begin(), other.inputs.end(), y);
      if (dropped_[n] != 0 || reads == 0) continue;
      if (reader >= 0 || reads > 1 || other.inputs[0] != y) return -1;
      reader = static_cast<int>(n);
    }
    return reader;
  }

  int readers(int id) const {
    int count = 0;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const std::vector<int>& inputs = graph_.nodes[n].inputs;
      if (dropped_[n] == 0) count += static_cast<int>(std::count(inputs.begin(), inputs.end(), id));
    }
    return count;
  }

  // Folds the node that reads node n into it.
  bool fold_reader(size_t n) {
    if (dropped_[n] != 0) return false;
    ir::Node& node = graph_.nodes[n];
    const std::optional<KnownWeights> known = known_weights(graph_, node);
    if (!known || known->weight_steps >= 0 || known->bias_steps >= 0) return false;
    const int reader = only_reader(node);
    if (reader < 0) return false;
    const ir::Node scaling_node = graph_.nodes[static_cast<size_t>(reader)];
    const std::optional<ir::ChannelScaling> scaling = scaling_of(graph_, scaling_node);
    if (!scaling) return false;
    const Shape shape = graph_.type(known->weight).shape;
    const ChannelWalk walk = walk_of(shape, known->layout.channels);
    if (static_cast<int64_t>(scaling->scale.size()) != walk.channels) return false;
    const std::optional<ir::Attrs> attrs = with_activation(node, scaling->activation);
    if (!attrs) return false;
    node.attrs = *attrs;
    set_weight(node, *known, walk, scaling->scale);
    set_bias(node, *known, *scaling);
    graph_.values[static_cast<size_t>(scaling_node.outputs[0])].producer = static_cast<int>(n);
    node.outputs[0] = scaling_node.outputs[0];
    dropped_[static_cast<size_t>(reader)] = 1;
    return true;
  }

  void set_weight(ir::Node& node, const KnownWeights& known, const ChannelWalk& walk,
                  const std::vector<double>& scale) {
    const int id = readers(known.weight) == 1 ? known.weight : own_copy(graph_, known.weight);
    ir::ValueData& data = graph_.values[static_cast<size_t>(id)];
    data.data = scaled(*data.data, walk, scale);
    node.inputs[static_cast<size_t>(known.layout.weight)] = id;
  }

  void set_bias(ir::Node& node, const KnownWeights& known, const ir::ChannelScaling& scaling) {
    std::vector<float> values(scaling.scale.size(), 0.0F);
    int id = known.bias;
    if (id >= 0) {
      values = graph_.data(id).data->floats();
      if (readers(id) > 1) id = own_copy(graph_, id);
    } else {
      std::string name = graph_.data(known.weight).name;
      if (name.ends_with(".weight")) name.resize(name.size() - 7);
      ir::ValueData data = graph_.data(known.weight);
      data.name = free_name(graph_, name + ".bias");
      data.type = {DType::f32, {static_cast<int64_t>(values.size())}};
      id = graph_.copy_source(data).id();
      const auto place = static_cast<size_t>(known.layout.bias);
      if (node.inputs.size() <= place) node.inputs.resize(place + 1, -1);
    }
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] =
          static_cast<float>(static_cast<double>(values[k]) * scaling.scale[k] + scaling.shift[k]);
    }
    const auto count = static_cast<int64_t>(values.size());
    graph_.values[static_cast<size_t>(id)].data = Array(std::move(values), {count});
    node.inputs[static_cast<size_t>(known.layout.bias)] = id;
  }

  ir::Graph graph_;
  std::vector<char> dropped_;          // nodes
  std::vector<char> is_result_;        // values
  std::map<size_t, OwnLayer> layers_;  // by node
};

}  // namespace

namespace {

// The node that rounds the value to steps; the value becomes what it rounds.
int take_steps(const ir::Graph& graph, int& id) {
  const ir::Node* const node = graph.producer_of(id);
  if (node == nullptr || !ops::fake_steps_of(*node)) return -1;
  const int producer = graph.data(id).producer;
  id = node->inputs[0];
  return producer;
}

}  // namespace

bool has_values(const ir::ValueData& data) {
  return data.producer < 0 && ir::is_persistent(data.role) && data.type.dtype == DType::f32 &&
         data.data->dtype() == DType::f32 && data.data->shape() == data.type.shape;
}

ChannelWalk walk_of(const Shape& weight, int axis) {
  ChannelWalk walk{weight[axis], 1};
  for (int a = axis + 1; a < weight.rank(); ++a) walk.inner *= weight[a];
  walk.channels = std::max<int64_t>(1, walk.channels);
  walk.inner = std::max<int64_t>(1, walk.inner);
  return walk;
}

std::optional<KnownWeights> known_weights(const ir::Graph& graph, const ir::Node& node) {
  const auto rule = node.op->quantized.weights;
  if (rule == nullptr) return std::nullopt;
  const std::vector<const ir::TensorType*> types = types_of(graph, node);
  const std::vector<ir::TensorType> outputs{graph.type(node.outputs[0])};
  const std::optional<ir::WeightLayout> layout = rule({node.attrs, types, outputs});
  if (!layout) return std::nullopt;
  KnownWeights known{*layout, node.input(layout->weight), node.input(layout->bias)};
  known.weight_steps = take_steps(graph, known.weight);
  known.bias_steps = take_steps(graph, known.bias);
  if (known.weight < 0 || !has_values(graph.data(known.weight))) return std::nullopt;
  if (known.bias >= 0 && !has_values(graph.data(known.bias))) return std::nullopt;
  return known;
}

std::string free_name(ir::Graph& graph, const std::string& name) {
  std::string made = name;
  for (int n = 2; graph.find_source(made); ++n) made = name + "_" + std::to_string(n);
  return made;
}

ir::Graph fold_scalings(const ir::Graph& graph) { return Folding(graph).run(); }

}  // namespace thimble::quantizing
