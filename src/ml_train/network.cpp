#include "ml_train/network.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

Node made_node(const std::string& type, const std::string& name,
               const std::vector<std::string>& properties, std::vector<Connection> inputs) {
  std::shared_ptr<LayerNode> layer = make_layer(type, properties);
  layer->set_name(name);
  return {std::move(layer), std::move(inputs), name};
}

[[noreturn]] void fail(const std::string& where, const std::string& message) {
  throw std::invalid_argument("[" + where + "] " + message);
}

class Realizer {
 public:
  Realizer(const std::vector<std::shared_ptr<LayerNode>>& layers, const NetworkSettings& settings)
      : settings_(settings) {
    if (layers.empty()) fail("model", "has no layers; add one");
    for (const auto& layer : layers) {
      layer->initialize();
      nodes_.push_back({layer, layer->props().connections("input_layers"), layer->getName()});
    }
  }

  std::vector<Node> run() {
    connect_predecessors();
    check_connections();
    split_outputs();
    for (size_t i = 0; i < nodes_.size(); ++i) realize_flatten(i);
    for (size_t i = 0; i < nodes_.size(); ++i) realize_activation(i);
    if (settings_.training) {
      static_cast<void>(in_order());  // a circle has no end that would need a loss
      append_losses();
    }
    return in_order();
  }

 private:
  // Rule 1: a layer that names no input takes the layer declared before it.
  void connect_predecessors() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = nodes_[i];
      const auto& sources = settings_.input_layers;
      const bool is_source =
          node.layer->props().given("input_shape") || makes_its_own(*node.layer) ||
          std::find(sources.begin(), sources.end(), node.name()) != sources.end();
      if (!node.inputs.empty() || is_source) continue;
      if (i == 0) {
        fail(node.layer->props().owner(),
             "is the first layer and needs input_shape, such as input_shape=1:28:28");
      }
      node.inputs = {{nodes_[i - 1].name(), 0}};
    }
  }

  void check_connections() {
    std::set<std::string> names;
    for (const Node& node : nodes_) names.insert(node.name());
    for (const Node& node : nodes_) {
      for (const Connection& from : node.inputs) {
        if (names.contains(from.layer)) continue;
        fail(node.layer->props().owner(),
             "input_layers names \"" + from.layer + "\", which is no layer");
      }
    }
  }

  // Rule 2: what is read more than once gets a layer that copies it.
  void split_outputs() {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::map<int64_t, std::vector<Connection*>> readers;
      for (Node& other : nodes_) {
        for (Connection& from : other.inputs) {
          if (from.layer == nodes_[i].name()) readers[from.index].push_back(&from);
        }
      }
      std::vector<Node> made;
      for (const auto& [index, all] : readers) {
        if (all.size() < 2) continue;
        const std::string name = nodes_[i].name() + "/generated_out_" + std::to_string(index);
        made.push_back(made_node("multiout", name, {}, {{nodes_[i].name(), index}}));
        for (size_t k = 0; k < all.size(); ++k) *all[k] = {name, static_cast<int64_t>(k)};
      }
      const auto behind = nodes_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      i += made.size();
      nodes_.insert(behind, std::make_move_iterator(made.begin()),
                    std::make_move_iterator(made.end()));
    }
  }

  // Puts a layer behind another one, whose readers it takes over.
  void put_behind(size_t i, Node node) {
    const std::string from = nodes_[i].name();
    for (Node& other : nodes_) {
      for (Connection& input : other.inputs) {
        if (input.layer == from) input.layer = node.name();
      }
    }
    nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(node));
  }

  void realize_flatten(size_t i) {
    const PropertySet& props = nodes_[i].layer->props();
    if (!props.boolean("flatten")) return;
    const std::string& name = nodes_[i].name();
    put_behind(i, made_node("flatten", name + "/flatten_realized", {}, {{name, 0}}));
  }

  void realize_activation(size_t i) {
    const LayerNode& layer = *nodes_[i].layer;
    if (!layer.props().given("activation") || layer.getType() == "activation") return;
    const std::string activation = layer.props().choice("activation");
    if (activation == "none") return;
    const std::string& name = nodes_[i].name();
    put_behind(i, made_node("activation", name + "/activation_realized",
                            {"activation=" + activation}, {{name, 0}}));
  }

  void append_losses() {
    if (settings_.loss.empty()) return;
    std::set<std::string> read;
    for (const Node& node : nodes_) {
      for (const Connection& from : node.inputs) read.insert(from.layer);
    }
    int counter = 0;
    const size_t count = nodes_.size();
    for (size_t i = 0; i < count; ++i) {
      if (read.contains(nodes_[i].name()) || nodes_[i].layer->kind().is_loss) continue;
      if (settings_.loss == "mse") {
        nodes_.push_back(
            made_node("mse", "mse" + std::to_string(counter++), {}, {{nodes_[i].name(), 0}}));
        continue;
      }
      const bool is_activation = nodes_[i].layer->getType() == "activation";
      const std::string last =
          is_activation ? nodes_[i].layer->props().choice("activation") : "no activation";
      const bool is_kld = settings_.loss == "kld";
      if (last != "softmax" && (is_kld || last != "sigmoid")) {
        fail(nodes_[i].layer->props().owner(), "loss=" + settings_.loss + " needs softmax" +
                                                   (is_kld ? "" : " or sigmoid") +
                                                   " at the end, and there is " + last);
      }
      const std::string type = is_kld ? "kld" : "cross_" + last;
      nodes_[i] = made_node(type, type + std::to_string(counter++), {}, nodes_[i].inputs);
    }
  }

  // Depth first from each layer in the order declared; reversed post-order.
  std::vector<Node> in_order() {
    std::map<std::string, size_t> number;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (number.emplace(nodes_[i].name(), i).second) continue;
      fail(nodes_[i].layer->props().owner(),
           "has the name of another layer, which the model adds itself; give one of your own");
    }
    std::vector<std::vector<size_t>> readers(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Connection& from : nodes_[i].inputs) readers[number.at(from.layer)].push_back(i);
    }
    std::vector<int> state(nodes_.size(), 0);  // 0: unseen, 1: open, 2: done
    std::vector<size_t> done;
    for (size_t root = 0; root < nodes_.size(); ++root) {
      if (state[root] != 0) continue;
      std::vector<std::pair<size_t, size_t>> open{{root, 0}};
      state[root] = 1;
      while (!open.empty()) {
        auto& [at, next] = open.back();
        if (next == readers[at].size()) {
          state[at] = 2;
          done.push_back(at);
          open.pop_back();
          continue;
        }
        const size_t reader = readers[at][next++];
        if (state[reader] == 1) fail(nodes_[reader].layer->props().owner(), "reads its own output");
        if (state[reader] != 0) continue;
        state[reader] = 1;
        open.emplace_back(reader, 0);
      }
    }
    std::reverse(done.begin(), done.end());
    std::vector<Node> ordered;
    for (const size_t i : done) ordered.push_back(nodes_[i]);
    return ordered;
  }

  const NetworkSettings& settings_;
  std::vector<Node> nodes_;
};

}  // namespace

bool makes_its_own(const LayerNode& layer) {
  return layer.getType() == "weight" || layer.getType() == "tensor";
}

std::vector<Node> make_network(const std::vector<std::shared_ptr<LayerNode>>& layers,
                               const NetworkSettings& settings) {
  return Realizer(layers, settings).run();
}

}  // namespace thimble::ml_train
