// Running a model forward.
#include <nntrainer_error.h>
#include <thimble/data.h>
#include <thimble/evaluator.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <stdexcept>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

std::span<const float> given_values(const Port& port, const float* values, int64_t batch) {
  if (values == nullptr) {
    throw std::invalid_argument("[model] the memory of " + port.layer + " is null");
  }
  return {values, static_cast<size_t>(port.dim.elements() * batch)};
}

void require_ports(const std::vector<Port>& ports, size_t given, const char* what) {
  if (given == ports.size()) return;
  throw std::invalid_argument("[model] has " + std::to_string(ports.size()) + " " + what +
                              ", got " + std::to_string(given));
}

}  // namespace

data::Dataset ModelNode::given(int64_t batch, const std::vector<float*>& input,
                               const std::vector<float*>& label) const {
  std::vector<data::Field> fields;
  std::vector<data::Values> values;
  const auto add = [&](const Port& port, const float* memory, bool is_label) {
    const Shape sample{port.dim.c, port.dim.h, port.dim.w};
    fields.push_back({.name = port.name, .shape = sample, .is_label = is_label});
    values.push_back(Array::view(given_values(port, memory, batch),
                                 {batch, port.dim.c, port.dim.h, port.dim.w}));
  };
  for (size_t i = 0; i < input.size(); ++i) add(network_.inputs[i], input[i], false);
  for (size_t i = 0; i < label.size(); ++i) add(network_.labels[i], label[i], true);
  return data::in_memory(std::move(fields), std::move(values));
}

std::vector<float*> ModelNode::keep_outputs(const std::map<std::string, Array>& outputs) {
  std::vector<float*> pointers;
  outputs_.resize(network_.outputs.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::span<const float> values = outputs.at(network_.outputs[i].name).as<float>();
    outputs_[i].assign(values.begin(), values.end());
    pointers.push_back(outputs_[i].data());
  }
  return pointers;
}

std::vector<float*> ModelNode::inference(unsigned int batch, const std::vector<float*>& input,
                                         const std::vector<float*>& label) {
  require_initialized("inference");
  require_ports(network_.inputs, input.size(), "inputs");
  if (!label.empty()) require_ports(network_.labels, label.size(), "labels");
  if (batch == 0) throw std::invalid_argument("[model] expected a batch of at least 1");
  const data::Dataset samples = given(batch, input, label);
  std::map<std::string, Array> outputs;
  if (trainer_) {
    weights_->push();
    for (const Port& port : network_.outputs)
      outputs.emplace(port.name, trainer_->predict(samples, port.name));
    if (!label.empty()) loss_ = static_cast<float>(trainer_->evaluate(samples).loss);
    return keep_outputs(outputs);
  }
  if (!label.empty()) {
    EvaluatorOptions options{.batch = batch, .threads = static_cast<int>(props_.count("threads"))};
    for (const Port& port : network_.outputs) options.outputs.push_back(port.name);
    Evaluator evaluator(graph_with_weights(), options);
    loss_ = static_cast<float>(evaluator.evaluate(samples, &outputs).loss);
    return keep_outputs(outputs);
  }
  // Users may have written to weights that they have pointers to.
  const auto& all = weights_->all();
  const bool may_change =
      std::any_of(all.begin(), all.end(), [](const auto& weight) { return weight->exposed; });
  if (!predictor_ || predictor_batch_ != batch || may_change) {
    predictor_.emplace(graph_with_weights(), batch, static_cast<int>(props_.count("threads")));
    predictor_batch_ = batch;
  }
  std::map<std::string, Array> inputs;
  for (size_t i = 0; i < input.size(); ++i) {
    const Port& port = network_.inputs[i];
    inputs.emplace(port.name, Array::view(given_values(port, input[i], batch),
                                          {batch, port.dim.c, port.dim.h, port.dim.w}));
  }
  return keep_outputs(predictor_->run(inputs));
}

std::vector<float*> ModelNode::incremental_inference(unsigned int /*batch*/,
                                                     const std::vector<float*>& /*input*/,
                                                     const std::vector<float*>& /*label*/,
                                                     unsigned int /*init_seq_len*/,
                                                     unsigned int /*from*/, unsigned int /*to*/,
                                                     bool /*output_hidden_state*/) {
  throw nntrainer::exception::not_supported(
      "[model] incremental_inference is not offered: in NNTrainer it adds rotary positions and a "
      "causal mask to attention, and so computes another network than train and inference; use "
      "inference on the rows so far, whose last row is the next one's prediction");
}

}  // namespace thimble::ml_train
