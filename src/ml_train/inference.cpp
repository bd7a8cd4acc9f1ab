// Running a model forward.
#include <thimble/data.h>
#include <thimble/evaluator.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <memory>
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

// The last row of each sequence, in arrays that the caller deletes with delete[].
std::vector<float*> last_rows(const std::vector<NewOutput>& rows, int64_t batch) {
  std::vector<std::unique_ptr<float[]>> made;
  for (const NewOutput& output : rows) {
    const Dim now = output.dim;
    made.push_back(std::make_unique<float[]>(static_cast<size_t>(batch * now.c * now.w)));
    for (int64_t plane = 0; plane < batch * now.c; ++plane) {
      std::copy_n(output.values + ((plane + 1) * now.h - 1) * now.w, now.w,
                  made.back().get() + plane * now.w);
    }
  }
  std::vector<float*> pointers;
  pointers.reserve(made.size());
  for (auto& array : made) pointers.push_back(array.release());
  return pointers;
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

bool ModelNode::weights_may_differ(int64_t writes) const {
  // Users may have written to weights that they have pointers to.
  const auto& all = weights_->all();
  return weights_->writes() != writes ||
         std::any_of(all.begin(), all.end(), [](const auto& weight) { return weight->exposed; });
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
  if (!predictor_ || predictor_batch_ != batch || weights_may_differ(predictor_writes_)) {
    predictor_.emplace(graph_with_weights(), batch, static_cast<int>(props_.count("threads")));
    predictor_batch_ = batch;
    predictor_writes_ = weights_->writes();
  }
  std::map<std::string, Array> inputs;
  for (size_t i = 0; i < input.size(); ++i) {
    const Port& port = network_.inputs[i];
    inputs.emplace(port.name, Array::view(given_values(port, input[i], batch),
                                          {batch, port.dim.c, port.dim.h, port.dim.w}));
  }
  return keep_outputs(predictor_->run(inputs));
}

std::vector<float*> ModelNode::incremental_inference(
    unsigned int batch, const std::vector<float*>& input, const std::vector<float*>& /*label*/,
    unsigned int /*init_seq_len*/, unsigned int from, unsigned int to, bool output_hidden_state) {
  require_initialized("incremental_inference");
  require_ports(network_.inputs, input.size(), "inputs");
  for (size_t i = 0; i < input.size(); ++i)
    static_cast<void>(given_values(network_.inputs[i], input[i], batch));
  if (batch == 0) throw std::invalid_argument("[model] expected a batch of at least 1");
  if (from == 0 && (!incremental_ || incremental_->batch() != batch || trainer_ ||
                    weights_may_differ(incremental_writes_))) {
    incremental_.emplace(*this, batch);
    incremental_writes_ = weights_->writes();
  }
  if (!incremental_ || incremental_->batch() != batch) {
    throw std::invalid_argument(
        "[model] incremental_inference begins with from 0, and keeps the batch of that call");
  }
  const std::vector<NewOutput> rows = incremental_->run(input, from, to);
  return output_hidden_state ? keep_rows(rows, batch) : last_rows(rows, batch);
}

// [batch, c, h, w] of the model's output sizes; rows that were not computed are 0.
std::vector<float*> ModelNode::keep_rows(const std::vector<NewOutput>& rows, int64_t batch) {
  std::vector<float*> pointers;
  outputs_.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Dim whole = network_.outputs[i].dim;
    const Dim now = rows[i].dim;
    outputs_[i].assign(static_cast<size_t>(batch * whole.elements()), 0.0F);
    for (int64_t plane = 0; plane < batch * now.c; ++plane) {
      std::copy_n(rows[i].values + plane * now.h * now.w, now.h * now.w,
                  outputs_[i].data() + plane * whole.h * whole.w);
    }
    pointers.push_back(outputs_[i].data());
  }
  return pointers;
}

}  // namespace thimble::ml_train
