#include "ml_train/model_node.h"

#include <nntrainer_error.h>
#include <thimble/error.h>
#include <thimble/model_file.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>

namespace nntrainer {

class RunLayerContext {};

}  // namespace nntrainer

namespace thimble::ml_train {

using ml::train::ExecutionMode;
using ml::train::TensorDim;

int failed(int status, const std::string& why) {
  std::cerr << "ml_train: " << why << "\n";
  return status;
}

ModelNode::ModelNode(const std::vector<std::string>& properties)
    : props_("model", {model_properties(), train_properties()}) {
  setProperty(properties);
}

void ModelNode::setProperty(const std::vector<std::string>& values) {
  for (const auto& [key, value] : parse_pairs(props_.owner(), values)) set_property(key, value);
}

void ModelNode::add(std::shared_ptr<LayerNode> layer) {
  std::string name = layer->props().choice("name");
  if (name.empty()) name = std::string(layer->kind().type) + std::to_string(unnamed_++);
  const auto taken = [&] {
    return std::any_of(layers_.begin(), layers_.end(),
                       [&](const auto& other) { return other->getName() == name; });
  };
  while (taken()) name += std::to_string(unnamed_++);
  layer->set_name(name);
  layers_.push_back(std::move(layer));
}

int ModelNode::addLayer(std::shared_ptr<ml::train::Layer> layer) {
  if (initialized_) return failed(ML_ERROR_NOT_SUPPORTED, "addLayer comes before initialize");
  if (compiled_) throw std::runtime_error("[model] addLayer comes before compile");
  auto known = std::dynamic_pointer_cast<LayerNode>(std::move(layer));
  if (!known) {
    return failed(ML_ERROR_NOT_SUPPORTED, "addLayer takes the layers of createLayer alone");
  }
  add(std::move(known));
  return ML_ERROR_NONE;
}

int ModelNode::setOptimizer(std::shared_ptr<ml::train::Optimizer> optimizer) {
  if (initialized_) return failed(ML_ERROR_NOT_SUPPORTED, "setOptimizer comes before initialize");
  auto known = std::dynamic_pointer_cast<OptimizerNode>(std::move(optimizer));
  if (!known) {
    return failed(ML_ERROR_INVALID_PARAMETER,
                  "setOptimizer takes the optimizers of createOptimizer alone");
  }
  optimizer_ = std::move(known);
  return ML_ERROR_NONE;
}

int ModelNode::setDataset(const ml::train::DatasetModeType& mode,
                          std::shared_ptr<ml::train::Dataset> dataset) {
  auto known = std::dynamic_pointer_cast<DatasetNode>(std::move(dataset));
  if (!known || mode == ml::train::DatasetModeType::MODE_UNKNOWN) {
    return failed(ML_ERROR_INVALID_PARAMETER,
                  "setDataset takes a data set of createDataset, for training, validation or test");
  }
  datasets_[mode] = std::move(known);
  return ML_ERROR_NONE;
}

std::shared_ptr<DatasetNode> ModelNode::dataset(ml::train::DatasetModeType mode) const {
  const auto found = datasets_.find(mode);
  return found == datasets_.end() ? nullptr : found->second;
}

int ModelNode::getLayer(const char* name, std::shared_ptr<ml::train::Layer>* layer) {
  const std::string wanted = lower(name);
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& node) { return node.name() == wanted; });
  if (found != nodes_.end()) {
    *layer = found->layer;
    return ML_ERROR_NONE;
  }
  for (const auto& declared : layers_) {
    if (declared->getName() != wanted) continue;
    *layer = declared;
    return ML_ERROR_NONE;
  }
  throw std::out_of_range("[model] has no layer of the name " + wanted);
}

void ModelNode::forEachLayer(
    std::function<void(ml::train::Layer&, nntrainer::RunLayerContext&, void*)> function,
    void* user_data) {
  nntrainer::RunLayerContext context;
  for (const Node& node : nodes_) function(*node.layer, context, user_data);
}

int ModelNode::compile(ExecutionMode mode) {
  if (compiled_) return failed(ML_ERROR_NOT_SUPPORTED, "compile was called before");
  try {
    mode_ = mode;
    nodes_ = make_network(layers_, settings());
    compiled_ = true;
    return ML_ERROR_NONE;
  } catch (const std::invalid_argument& error) {
    return failed(ML_ERROR_INVALID_PARAMETER, error.what());
  }
}

void ModelNode::build() { network_ = build_network(nodes_, settings(), weights_, input_dims_); }

int ModelNode::initialize(ExecutionMode mode) {
  if (!compiled_) return failed(ML_ERROR_NOT_SUPPORTED, "initialize comes after compile");
  if (initialized_) return failed(ML_ERROR_NOT_SUPPORTED, "initialize was called before");
  if (mode == ExecutionMode::TRAIN) {
    if (mode_ != ExecutionMode::TRAIN) {
      throw std::invalid_argument("[model] was compiled for inference, not for training");
    }
    if (!optimizer_) {
      return failed(ML_ERROR_INVALID_PARAMETER,
                    "training needs an optimizer: call setOptimizer before initialize");
    }
    static_cast<void>(optimizer_->schedule());  // throws where a key is missing
  }
  build();
  initialized_ = true;
  trains_ = mode == ExecutionMode::TRAIN;
  if (!weights_path_.empty()) load(weights_path_, ml::train::ModelFormat::MODEL_FORMAT_BIN);
  return ML_ERROR_NONE;
}

int ModelNode::reinitialize() {
  if (!initialized_) return failed(ML_ERROR_NOT_SUPPORTED, "reinitialize comes after initialize");
  drop_trainer();
  build();
  return ML_ERROR_NONE;
}

int ModelNode::allocate(ExecutionMode /*mode*/) {
  // train and inference take their memory themselves.
  return initialized_ ? ML_ERROR_NONE
                      : failed(ML_ERROR_NOT_SUPPORTED, "allocate comes after initialize");
}

void ModelNode::require_initialized(const char* what) const {
  if (!initialized_) {
    throw std::runtime_error(std::string("[model] ") + what + " comes after initialize");
  }
}

void ModelNode::drop_trainer() {
  predictor_.reset();
  incremental_.reset();
  if (!trainer_) return;
  weights_->hold_in(nullptr);
  trainer_.reset();
}

BuiltNetwork ModelNode::network_with_weights(const NetworkSettings& settings,
                                             const std::vector<Dim>& input_dims) {
  BuiltNetwork copy = build_network(nodes_, settings, weights_, input_dims);
  if (trainer_) {
    weights_->push();
    std::map<std::string, Array> values;
    for (const auto& weight : weights_->all()) {
      values.emplace(weight->name, trainer_->parameter(weight->name).reshaped(weight->shape));
    }
    set_weights(copy.graph, values);
  } else {
    set_weights(copy.graph, weights_->in_graph());
  }
  return copy;
}

void ModelNode::make_trainer() { make_trainer(trainer_options(), training_settings()); }

void ModelNode::make_trainer(const TrainerOptions& options, std::vector<std::string> settings) {
  predictor_.reset();
  trainer_.emplace(graph_with_weights(), options);
  trainer_settings_ = std::move(settings);
  weights_->hold_in(&*trainer_);
}

void ModelNode::remake_trainer() {
  const std::vector<std::string> names = optimizer_->states();
  const int64_t steps = trainer_->steps();
  std::vector<std::vector<Array>> states;
  const auto for_each_state = [&](auto visit) {
    for (const auto& weight : weights_->all())
      for (const std::string& name : names)
        if (weight->trainable) visit(*weight, name);
  };
  for_each_state([&](Weight& weight, const std::string& name) {
    states.push_back(weights_->read_state(weight, name));
  });
  const TrainerOptions options = trainer_options();
  const TrainerOptions before = trainer_->options();
  std::exception_ptr error;
  drop_trainer();
  try {
    make_trainer(options, training_settings());
  } catch (...) {
    error = std::current_exception();  // such as a budget that is too small
    make_trainer(before, trainer_settings_);
  }
  size_t at = 0;
  for_each_state([&](Weight& weight, const std::string& name) {
    weights_->write_state(weight, name, states[at++]);
  });
  trainer_->set_steps(steps);
  if (error) std::rethrow_exception(error);
}

SampleSizes ModelNode::sample_sizes() const {
  SampleSizes sizes;
  for (const Port& port : network_.inputs) sizes.inputs.push_back(port.dim.elements());
  for (const Port& port : network_.labels) sizes.labels.push_back(port.dim.elements());
  return sizes;
}

namespace {

std::vector<TensorDim> dims_of(const std::vector<Port>& ports, int64_t batch) {
  std::vector<TensorDim> dims;
  for (const Port& port : ports) {
    dims.emplace_back(static_cast<size_t>(batch), static_cast<size_t>(port.dim.c),
                      static_cast<size_t>(port.dim.h), static_cast<size_t>(port.dim.w));
  }
  return dims;
}

}  // namespace

std::vector<TensorDim> ModelNode::getInputDimension() {
  if (!compiled_) throw std::logic_error("[model] getInputDimension comes after initialize");
  require_initialized("getInputDimension");
  return dims_of(network_.inputs, batch_size());
}

std::vector<TensorDim> ModelNode::getOutputDimension() {
  if (!compiled_) throw std::logic_error("[model] getOutputDimension comes after initialize");
  require_initialized("getOutputDimension");
  if (network_.labels.empty()) {
    throw std::invalid_argument("[model] has no loss, so there are no labels");
  }
  return dims_of(network_.labels, batch_size());
}

void ModelNode::resetInputDimension(std::vector<TensorDim> dims) {
  require_initialized("resetInputDimension");
  if (dims.size() != network_.inputs.size()) {
    throw std::invalid_argument("[model] expected the dimensions of " +
                                std::to_string(network_.inputs.size()) + " inputs, got " +
                                std::to_string(dims.size()));
  }
  std::vector<Dim> sizes;
  for (const TensorDim& dim : dims) {
    for (unsigned int axis = 1; axis < TensorDim::MAXDIM; ++axis) {
      if (dim[axis] >= 1 && dim[axis] <= static_cast<size_t>(kMostElements)) continue;
      throw std::invalid_argument("[model] expected sizes from 1 to " +
                                  std::to_string(kMostElements) + ", got " +
                                  std::to_string(dim[axis]));
    }
    sizes.push_back({static_cast<int64_t>(dim.channel()), static_cast<int64_t>(dim.height()),
                     static_cast<int64_t>(dim.width())});
  }
  // Fails where they do not fit, and then changes nothing.
  BuiltNetwork network = build_network(nodes_, settings(), weights_, sizes);
  drop_trainer();
  network_ = std::move(network);
  input_dims_ = std::move(sizes);
}

std::unique_ptr<ModelNode> ModelNode::clone() const {
  if (initialized_) {
    throw std::invalid_argument("[model] copyConfiguration takes a model before initialize");
  }
  auto copy = std::make_unique<ModelNode>(std::vector<std::string>());
  copy->props_ = props_;
  for (const auto& layer : layers_) {
    auto made = std::make_shared<LayerNode>(layer->kind(), std::vector<std::string>());
    made->props() = layer->props();
    made->set_name(layer->getName());
    copy->layers_.push_back(std::move(made));
  }
  copy->unnamed_ = unnamed_;
  if (optimizer_) copy->optimizer_ = optimizer_->clone();
  return copy;
}

}  // namespace thimble::ml_train

namespace ml::train {

std::unique_ptr<Model> createModel(ModelType type, const std::vector<std::string>& properties) {
  if (type != ModelType::NEURAL_NET) {
    throw std::invalid_argument("[model] only NEURAL_NET is offered");
  }
  return std::make_unique<thimble::ml_train::ModelNode>(properties);
}

std::unique_ptr<Model> copyConfiguration(Model& from) {
  const auto* known = dynamic_cast<const thimble::ml_train::ModelNode*>(&from);
  if (known == nullptr) throw std::invalid_argument("[model] is none of createModel");
  return known->clone();
}

std::string getVersion() { return "0.6.0"; }
std::string getVersion(const std::string& app_name) { return app_name + " " + getVersion(); }
void getVersion(unsigned int* major, unsigned int* minor, unsigned int* micro) {
  *major = 0;
  *minor = 6;
  *micro = 0;
}

}  // namespace ml::train
