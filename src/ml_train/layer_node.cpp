#include "ml_train/layer_node.h"

#include <nntrainer_error.h>

#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

ml::train::TensorDim dim_of(const Weight& weight) {
  const auto size = [&](size_t axis) { return static_cast<size_t>(weight.dims[axis]); };
  return {size(0), size(1), size(2), size(3)};
}

}  // namespace

LayerNode::LayerNode(const LayerKind& kind, const std::vector<std::string>& properties)
    : kind_(kind), props_(kind.type, kind.properties) {
  if (!kind.refused.empty()) {
    throw nntrainer::exception::not_supported("[" + std::string(kind.type) + "] " + kind.refused);
  }
  props_.set(properties);
}

std::string LayerNode::getProperty(const std::string& key) {
  if (key == "name" && !name_.empty()) return name_;
  return props_.text(key).value_or("empty");
}

void LayerNode::require_initialized() const {
  if (!store_)
    throw std::runtime_error("[" + props_.owner() +
                             "] has no weights before the model "
                             "is initialized");
}

const std::string LayerNode::getWeightName(unsigned int index) {
  require_initialized();
  if (index >= weights_.size()) {
    throw std::runtime_error("[" + props_.owner() + "] has " + std::to_string(weights_.size()) +
                             " weights, no number " + std::to_string(index));
  }
  return weights_[index]->name;
}

const std::vector<float*> LayerNode::getWeights() {
  require_initialized();
  std::vector<float*> values;
  for (Weight* weight : weights_) values.push_back(store_->expose(*weight));
  return values;
}

void LayerNode::getWeights(std::vector<float*>& weights, std::vector<ml::train::TensorDim>& dims) {
  weights = getWeights();
  dims.clear();
  for (const Weight* weight : weights_) dims.push_back(dim_of(*weight));
}

void LayerNode::setWeights(const std::vector<float*> weights) {
  require_initialized();
  if (weights.size() != weights_.size()) {
    throw std::runtime_error("[" + props_.owner() + "] expected " +
                             std::to_string(weights_.size()) + " weights, got " +
                             std::to_string(weights.size()));
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    store_->write(*weights_[i], {weights[i], static_cast<size_t>(weights_[i]->elements())});
  }
}

void LayerNode::set_name(const std::string& name) {
  name_ = name;
  props_.set_owner(std::string(kind_.type) + " " + name);
}

void LayerNode::attach(std::shared_ptr<WeightStore> store, std::vector<Weight*> weights) {
  store_ = std::move(store);
  weights_ = std::move(weights);
}

std::unique_ptr<LayerNode> make_layer(const std::string& type,
                                      const std::vector<std::string>& properties) {
  const LayerKind* const kind = find_kind(type);
  if (kind == nullptr) {
    throw std::invalid_argument("[layer] there is no type \"" + type + "\"");
  }
  return std::make_unique<LayerNode>(*kind, properties);
}

}  // namespace thimble::ml_train

namespace ml::train {

std::unique_ptr<Layer> createLayer(const LayerType& type,
                                   const std::vector<std::string>& properties) {
  for (const thimble::ml_train::LayerKind& kind : thimble::ml_train::layer_kinds()) {
    if (kind.number == static_cast<int>(type)) {
      return std::make_unique<thimble::ml_train::LayerNode>(kind, properties);
    }
  }
  throw std::invalid_argument("[layer] there is no type of the number " +
                              std::to_string(static_cast<int>(type)));
}

std::unique_ptr<Layer> createLayer(const std::string& type,
                                   const std::vector<std::string>& properties) {
  return thimble::ml_train::make_layer(type, properties);
}

}  // namespace ml::train
