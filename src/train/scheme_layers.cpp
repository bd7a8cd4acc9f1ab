#include "train/scheme_layers.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace thimble::train {
namespace {

// The source that a value is a copy of in another type, or the value itself.
int uncast(const ir::Graph& graph, int id) {
  for (const ir::Node* node = graph.producer_of(id);
       node != nullptr && node->op->gradient.to_type != nullptr; node = graph.producer_of(id)) {
    id = node->input(0);
  }
  return id;
}

bool can_be_trained(const ir::Graph& graph, int id) {
  if (id < 0) return false;
  const ir::ValueData& data = graph.data(id);
  return data.producer < 0 && data.role == ir::Role::parameter && ir::is_trainable(data.type);
}

ir::LayerParameters parameters_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.op->layer == nullptr) return {};
  std::vector<const ir::TensorType*> inputs;
  for (const int id : node.inputs) inputs.push_back(id < 0 ? nullptr : &graph.type(id));
  return node.op->layer({node.attrs, inputs, {}}).value_or(ir::LayerParameters{});
}

class LayerSearch {
 public:
  explicit LayerSearch(const ir::Graph& graph) : graph_(graph) {}

  std::vector<SchemeLayer> run() {
    // A parameter that is added anywhere is a bias, whoever else reads it.
    std::set<int> biases;
    for (const ir::Node& node : graph_.nodes) {
      const int bias = uncast(graph_, node.input(parameters_of(graph_, node).bias));
      if (can_be_trained(graph_, bias)) biases.insert(bias);
    }
    for (const ir::Node& node : graph_.nodes) {
      const ir::LayerParameters named = parameters_of(graph_, node);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const int id = uncast(graph_, node.inputs[i]);
        if (!can_be_trained(graph_, id)) continue;
        if (taken_.insert(id).second) {
          SchemeLayer& layer = layer_of(node);
          (biases.count(id) > 0 ? layer.biases : layer.weights).push_back(id);
        }
        add_axis(id, static_cast<int>(i) == named.weight ? named.input_channels : -1);
      }
    }
    for (SchemeLayer& layer : layers_) {
      for (const int id : layer.weights) {
        if (axes_.at(id) >= 0) layer.axes[id] = axes_.at(id);
      }
    }
    return std::move(layers_);
  }

 private:
  SchemeLayer& layer_of(const ir::Node& node) {
    const auto add = [&](std::string name) -> SchemeLayer& {
      layers_.emplace_back().name = std::move(name);
      return layers_.back();
    };
    if (node.layer < 0) {
      if (&node != last_) add("");
      last_ = &node;
      return layers_.back();
    }
    last_ = nullptr;
    const auto [known, is_new] = places_.emplace(node.layer, layers_.size());
    if (is_new) return add(graph_.layers[static_cast<size_t>(node.layer)].name);
    return layers_[known->second];
  }

  // Channels can be chosen where all readers count them along the same axis.
  void add_axis(int id, int axis) {
    const auto [known, is_new] = axes_.emplace(id, axis);
    if (!is_new && known->second != axis) known->second = -1;
  }

  const ir::Graph& graph_;
  std::vector<SchemeLayer> layers_;
  std::map<int, size_t> places_;  // of layers of the graph
  std::map<int, int> axes_;
  std::set<int> taken_;
  const ir::Node* last_ = nullptr;  // the node without a layer that the last one stands for
};

// Levenshtein's distance.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<SchemeLayer> layers_of(const ir::Graph& model) { return LayerSearch(model).run(); }

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](const auto& a, const auto& b) { return distance(name, a) < distance(name, b); });
  return nearest == known.end() ? std::string() : *nearest;
}

}  // namespace thimble::train
