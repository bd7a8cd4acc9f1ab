// From the layers that a user declared to an ordered network, and to a graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ml_train/layer_node.h"

namespace thimble::ml_train {

// A layer with its connections.
struct Node {
  std::shared_ptr<LayerNode> layer;
  std::vector<Connection> inputs;  // none: a source
  [[nodiscard]] const std::string& name() const { return name_; }
  std::string name_;
};

// How a network is made from its declaration.
struct NetworkSettings {
  bool training = true;                   // append a loss
  std::string loss;                       // "mse", "cross", "kld" or empty
  std::vector<std::string> input_layers;  // sources, in the order of inputs; empty: as they come
  std::vector<std::string> label_layers;
  std::optional<NewRows> rows;  // computes some rows of sequences instead of whole samples
  bool features = false;       // what layers that learn without gradients learn of are outputs, too
  bool channels_last = false;  // the graph's inputs and outputs are [N, h, w, c], not [N, c, h, w]
};

// The network in order of execution: layers that were declared, and those that their properties and
// the loss add. Throws std::invalid_argument naming the layer at fault.
[[nodiscard]] std::vector<Node> make_network(const std::vector<std::shared_ptr<LayerNode>>& layers,
                                             const NetworkSettings& settings);

// A named tensor at the border.
struct Port {
  std::string name;  // of the graph's input, label or output
  std::string layer;
  Dim dim;
};

// What a network became.
struct BuiltNetwork {
  Graph graph;
  std::vector<Port> inputs;
  std::vector<Port> labels;
  std::vector<Port> outputs;
  std::vector<std::vector<Dim>> dims;  // of every node's outputs
  std::vector<RowCache> caches;        // where settings.rows is given
  bool has_loss = false;
};

// input_dims: of the sources in place of their own, in the order of inputs; empty: their own.
// Weights that the store does not have yet get initial values. Throws std::invalid_argument.
[[nodiscard]] BuiltNetwork build_network(const std::vector<Node>& nodes,
                                         const NetworkSettings& settings,
                                         const std::shared_ptr<WeightStore>& weights,
                                         const std::vector<Dim>& input_dims = {});

// Whether a layer without input_layers makes tensors itself, and is no input of the model.
[[nodiscard]] bool makes_its_own(const LayerNode& layer);

}  // namespace thimble::ml_train
