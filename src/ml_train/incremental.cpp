#include "ml_train/incremental.h"

#include <nntrainer_error.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

// Whether every row of a layer's result depends on the same row of its inputs alone, apart from
// what attention keeps.
bool keeps_rows_apart(const LayerNode& layer) {
  static const std::set<std::string> always = {"input",
                                               "fully_connected",
                                               "activation",
                                               "embedding",
                                               "multiout",
                                               "identity",
                                               "dropout",
                                               "addition",
                                               "add",
                                               "subtract",
                                               "multiply",
                                               "divide",
                                               "pow",
                                               "sqrt",
                                               "sin",
                                               "cos",
                                               "tan",
                                               "negative",
                                               "swiglu",
                                               "cast",
                                               "rmsnorm",
                                               "attention",
                                               "multi_head_attention",
                                               "positional_encoding",
                                               "mse",
                                               "cross_sigmoid",
                                               "cross_softmax",
                                               "constant_derivative"};
  const PropertySet& props = layer.props();
  const std::string type = layer.getType();
  if (type == "input") return !props.boolean("normalization") && !props.boolean("standardization");
  if (props.boolean("distribute") && type != "fully_connected") return false;
  if (type == "layer_normalization") return props.integers("axis") == std::vector<int64_t>{3};
  return always.contains(type);
}

void copy_rows(const float* from, int64_t from_rows, float* to, int64_t to_rows, int64_t rows,
               int64_t planes, int64_t width) {
  for (int64_t i = 0; i < planes; ++i)
    std::copy_n(from + i * from_rows * width, rows * width, to + i * to_rows * width);
}

}  // namespace

IncrementalRun::IncrementalRun(ModelNode& model, int64_t batch) : model_(model), batch_(batch) {
  for (const Node& node : model.nodes()) {
    if (keeps_rows_apart(*node.layer)) continue;
    throw nntrainer::exception::not_supported(
        "[" + node.layer->props().owner() +
        "] incremental_inference computes some rows alone, and this layer mixes rows; use "
        "inference on the whole sequence");
  }
  for (const Port& input : model.network().inputs) {
    const int64_t rows = has_indexes(input) ? input.dim.w : input.dim.h;
    if (capacity_ != 0 && rows != capacity_) {
      throw std::invalid_argument("[" + input.layer + "] has " + std::to_string(rows) +
                                  " rows, and another input " + std::to_string(capacity_) +
                                  ": incremental_inference needs as many in all");
    }
    capacity_ = rows;
  }
}

// Whether an input has the indexes of an embedding: its positions are along the width.
bool IncrementalRun::has_indexes(const Port& input) const {
  std::set<std::string> copies{input.layer};
  for (const Node& node : model_.nodes()) {
    const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](const auto& from) { return copies.contains(from.layer); });
    if (!reads) continue;
    if (node.layer->getType() == "embedding") return true;
    if (node.layer->getType() == "multiout") copies.insert(node.name());
  }
  return false;
}

IncrementalRun::Program& IncrementalRun::program(int64_t count, int64_t before) {
  const auto found = programs_.find({count, before});
  if (found != programs_.end()) return found->second;
  // First calls have any number of rows: the program of the last one is kept.
  if (before == 0) std::erase_if(programs_, [](const auto& p) { return p.first.second == 0; });
  NetworkSettings settings = model_.settings();
  settings.training = false;
  settings.rows = NewRows{count, before};
  std::vector<Dim> dims;
  for (const Port& input : model_.network().inputs) {
    Dim dim = input.dim;
    (has_indexes(input) ? dim.w : dim.h) = count;
    dims.push_back(dim);
  }
  BuiltNetwork network = model_.network_with_weights(settings, dims);
  Predictor predictor(network.graph, batch_, static_cast<int>(model_.props().count("threads")));
  return programs_
      .emplace(std::pair(count, before), Program{std::move(network), std::move(predictor)})
      .first->second;
}

std::map<std::string, Array> IncrementalRun::values_of(const Program& program,
                                                       const std::vector<float*>& inputs,
                                                       int64_t from, int64_t to) const {
  const int64_t count = to - from;
  std::map<std::string, Array> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Dim whole = model_.network().inputs[i].dim;
    const Port& port = program.network.inputs[i];
    std::vector<float> rows(static_cast<size_t>(batch_ * port.dim.elements()));
    const bool along_width = has_indexes(port);
    copy_rows(inputs[i], along_width ? whole.w : whole.h, rows.data(), count, count,
              batch_ * whole.c, along_width ? 1 : whole.w);
    values.emplace(port.name, std::move(rows));
  }
  if (from == 0) return values;
  std::vector<int32_t> positions;
  std::vector<uint8_t> seen;
  for (int64_t n = 0; n < batch_; ++n) {
    for (int64_t t = from; t < to; ++t) {
      positions.push_back(static_cast<int32_t>(t));
      for (int64_t s = 0; s < capacity_; ++s) seen.push_back(s < from ? 1 : 0);
      for (int64_t s = from; s < to; ++s) seen.push_back(s <= t ? 1 : 0);
    }
  }
  values.emplace(kRowPositions, std::move(positions));
  values.emplace(kRowsSeen, std::move(seen));
  for (const RowCache& cache : program.network.caches) {
    values.emplace(cache.name, Array::view(std::span<const float>(caches_.at(cache.name)),
                                           {batch_, capacity_, cache.heads, cache.width}));
  }
  return values;
}

void IncrementalRun::keep(const Program& program, int64_t from, int64_t to) {
  for (const RowCache& cache : program.network.caches) {
    const int64_t width = cache.heads * cache.width;
    std::vector<float>& kept = caches_[cache.name];
    kept.resize(static_cast<size_t>(batch_ * capacity_ * width));
    copy_rows(outputs_.at(cache.name).as<float>().data(), to - from, kept.data() + from * width,
              capacity_, to - from, batch_, width);
  }
}

std::vector<NewOutput> IncrementalRun::run(const std::vector<float*>& inputs, int64_t from,
                                           int64_t to) {
  if (from >= to || to > capacity_) {
    throw std::invalid_argument("[model] expected rows from below to, to at most " +
                                std::to_string(capacity_) + " (the input's size), got " +
                                std::to_string(from) + " and " + std::to_string(to));
  }
  if (from > done_) {
    throw std::invalid_argument("[model] rows " + std::to_string(done_) + " to " +
                                std::to_string(from) + " were not computed yet; begin with from 0");
  }
  Program& now = program(to - from, from == 0 ? 0 : capacity_);
  outputs_ = now.predictor.run(values_of(now, inputs, from, to));
  keep(now, from, to);
  done_ = to;
  std::vector<NewOutput> outputs;
  for (const Port& port : now.network.outputs)
    outputs.push_back({port.dim, outputs_.at(port.name).as<float>().data()});
  return outputs;
}

}  // namespace thimble::ml_train
