#include <thimble/error.h>
#include <thimble/ops/add.h>
#include <thimble/ops/argmax.h>
#include <thimble/ops/by_phase.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/reshape.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "ml_train/network.h"

namespace thimble::ml_train {
namespace {

class NetworkBuilder {
 public:
  NetworkBuilder(const std::vector<Node>& nodes, const NetworkSettings& settings,
                 const std::shared_ptr<WeightStore>& weights, const std::vector<Dim>& input_dims)
      : nodes_(nodes), settings_(settings), weights_(weights), input_dims_(input_dims) {
    shared_.weights = weights.get();
    shared_.training = settings.training;
    shared_.rows = settings.rows;
    shared_.features = settings.features;
  }

  BuiltNetwork run() {
    count_outputs();
    declare_inputs();
    declare_rows();
    for (const Node& node : nodes_) build(node);
    sort_ports(result_.labels, settings_.label_layers, "label_layers");
    for (const Node& node : nodes_) add_outputs(node);
    if (!shared_.losses.empty()) minimize();
    result_.graph = std::move(shared_.graph);
    result_.caches = std::move(shared_.caches);
    return std::move(result_);
  }

 private:
  void count_outputs() {
    for (const Node& node : nodes_) {
      for (const Connection& from : node.inputs) {
        int& count = used_[from.layer];
        count = std::max(count, static_cast<int>(from.index) + 1);
      }
    }
  }

  // In the order in which users hand them over.
  void declare_inputs() {
    for (const Node& node : nodes_) {
      if (!node.inputs.empty() || makes_its_own(*node.layer)) continue;
      const PropertySet& props = node.layer->props();
      if (!props.given("input_shape")) {
        throw std::invalid_argument("[" + props.owner() + "] is a source and needs input_shape");
      }
      const std::vector<int64_t> sizes = props.shapes("input_shape").front();
      result_.inputs.push_back({node.name(), node.name(), {sizes[1], sizes[2], sizes[3]}});
    }
    sort_ports(result_.inputs, settings_.input_layers, "input_layers");
    for (size_t i = 0; i < result_.inputs.size(); ++i) {
      Port& port = result_.inputs[i];
      if (!input_dims_.empty()) port.dim = input_dims_.at(i);
      const Dim& dim = port.dim;
      if (dim.elements() > kMostElements) {
        throw std::invalid_argument("[" + port.layer + "] input_shape " + to_string(dim) +
                                    " is too large");
      }
      tensors_[port.layer + " source"] = {
          settings_.channels_last
              ? Tensor::of_image(shared_.graph.input(port.name, {dim.h, dim.w, dim.c}), dim)
              : Tensor::of_plain(shared_.graph.input(port.name, {dim.c, dim.h, dim.w}), dim)};
    }
  }

  void declare_rows() {
    if (!settings_.rows || settings_.rows->before == 0) return;
    const auto [count, before] = *settings_.rows;
    shared_.positions = shared_.graph.input(kRowPositions, {count}, DType::i32);
    shared_.rows_seen = shared_.graph.input(kRowsSeen, {1, count, before + count}, DType::u8);
  }

  void sort_ports(std::vector<Port>& ports, const std::vector<std::string>& order,
                  const char* property) const {
    if (order.empty()) return;
    std::vector<Port> sorted;
    for (const std::string& layer : order) {
      const auto found = std::find_if(ports.begin(), ports.end(),
                                      [&](const Port& port) { return port.layer == layer; });
      if (found == ports.end()) {
        throw std::invalid_argument("[model] " + std::string(property) + " names \"" + layer +
                                    "\", which is not one of them");
      }
      sorted.push_back(*found);
    }
    if (sorted.size() != ports.size()) {
      throw std::invalid_argument("[model] " + std::string(property) + " names " +
                                  std::to_string(sorted.size()) + " of " +
                                  std::to_string(ports.size()) + " layers; name all");
    }
    ports = std::move(sorted);
  }

  void build(const Node& node) {
    const PropertySet& props = node.layer->props();
    try {
      LayerBuild build(
          shared_, props, node.name(),
          props.given("shared_from") ? owner_of(props.choice("shared_from"), node) : node.name(),
          props.boolean("trainable"), inputs_of(node), std::max(1, used_[node.name()]));
      check_shape(build, node);
      const bool by_rows = props.boolean("distribute");
      build.require(!by_rows || !node.layer->kind().is_loss,
                    "distribute is not for losses, which take all rows as they are");
      const int64_t rows = by_rows ? build.part_rows() : 1;
      node.layer->kind().build(build);
      if (by_rows) build.join_rows(rows);
      std::vector<Dim> dims;
      for (const TensorPtr& tensor : build.outputs()) dims.push_back(tensor->dim());
      build.require(static_cast<int>(dims.size()) >= used_[node.name()],
                    "has " + std::to_string(dims.size()) + " outputs, and another layer reads " +
                        std::to_string(used_[node.name()]));
      if (build.has_label()) {
        result_.labels.push_back({node.name() + ":label", node.name(), dims.at(0)});
      }
      node.layer->attach(weights_, build.weights());
      result_.dims.push_back(std::move(dims));
      tensors_[node.name()] = build.outputs();
    } catch (const Error& error) {
      throw std::invalid_argument("[" + props.owner() + "] " + error.what());
    }
  }

  std::vector<TensorPtr> inputs_of(const Node& node) {
    if (node.inputs.empty() && makes_its_own(*node.layer)) return {};
    if (node.inputs.empty()) return tensors_.at(node.name() + " source");
    std::vector<TensorPtr> inputs;
    for (const Connection& from : node.inputs) {
      const std::vector<TensorPtr>& outputs = tensors_.at(from.layer);
      if (from.index >= static_cast<int64_t>(outputs.size())) {
        throw std::invalid_argument("[" + node.layer->props().owner() + "] reads output " +
                                    std::to_string(from.index) + " of " + from.layer +
                                    ", which has " + std::to_string(outputs.size()));
      }
      inputs.push_back(outputs[static_cast<size_t>(from.index)]);
    }
    return inputs;
  }

  // input_shape of a layer that is no source must be that of its inputs.
  static void check_shape(const LayerBuild& build, const Node& node) {
    if (node.inputs.empty()) return;
    const auto shapes = build.props.shapes("input_shape");
    for (size_t i = 0; i < std::min(shapes.size(), node.inputs.size()); ++i) {
      const Dim given{shapes[i][1], shapes[i][2], shapes[i][3]};
      build.require(given == build.dim(static_cast<int>(i)),
                    "input_shape is " + to_string(given) + ", but the layer before it gives " +
                        to_string(build.dim(static_cast<int>(i))));
    }
  }

  // The layer whose weights `of` shares, through others that share them.
  std::string owner_of(std::string name, const Node& of) const {
    for (size_t i = 0; i <= nodes_.size(); ++i) {
      const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                      [&](const Node& node) { return node.name() == name; });
      if (found == nodes_.end()) {
        throw std::invalid_argument("[model] shared_from names \"" + name +
                                    "\", which is no layer");
      }
      const std::string type = found->layer->getType();
      if (type != of.layer->getType()) {
        throw std::invalid_argument("[" + of.layer->props().owner() + "] shared_from names \"" +
                                    name + "\", a layer of type " + type +
                                    ": expected one of the same type");
      }
      if (!found->layer->props().given("shared_from")) return name;
      name = found->layer->props().choice("shared_from");
    }
    throw std::invalid_argument("[model] shared_from goes round in a circle at \"" + name + "\"");
  }

  void add_outputs(const Node& node) {
    if (used_[node.name()] > 0) return;
    for (const TensorPtr& tensor : tensors_.at(node.name())) {
      const std::string name = "output" + std::to_string(result_.outputs.size());
      shared_.graph.output(name, settings_.channels_last ? tensor->image() : tensor->plain());
      result_.outputs.push_back({name, node.name(), tensor->dim()});
    }
  }

  void minimize() {
    Value loss = shared_.losses.front();
    for (size_t i = 1; i < shared_.losses.size(); ++i) loss = add(loss, shared_.losses[i]);
    shared_.graph.minimize(loss);
    result_.has_loss = true;
    add_accuracy();
  }

  // Of the first label and its layer: the share of samples whose largest output is where the
  // label's largest is. Not computed in training steps.
  void add_accuracy() {
    if (result_.labels.empty()) return;
    const Port& first = result_.labels[0];
    const Value label = shared_.labels.at(first.name);
    const Value output = tensors_.at(first.layer).front()->plain();
    const auto best = [&](Value x) { return argmax(reshape(x, {-1, first.dim.elements()})); };
    const Value right = mean(cast(eq(best(output), best(label)), DType::f32));
    const Value none = shared_.graph.constant("accuracy_in_training", Shape{}, {0.0F});
    shared_.graph.metric("accuracy", by_phase(none, right));
  }

  const std::vector<Node>& nodes_;
  const NetworkSettings& settings_;
  const std::shared_ptr<WeightStore>& weights_;
  const std::vector<Dim>& input_dims_;
  GraphBuild shared_;
  BuiltNetwork result_;
  std::map<std::string, int> used_;  // outputs that are read
  std::map<std::string, std::vector<TensorPtr>> tensors_;
};

}  // namespace

BuiltNetwork build_network(const std::vector<Node>& nodes, const NetworkSettings& settings,
                           const std::shared_ptr<WeightStore>& weights,
                           const std::vector<Dim>& input_dims) {
  return NetworkBuilder(nodes, settings, weights, input_dims).run();
}

}  // namespace thimble::ml_train
