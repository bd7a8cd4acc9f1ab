#include "quantize/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/passes.h"

namespace thimble::quantizing {
namespace {

Shape sample_shape(const Shape& batch) {
  return Shape(std::vector<int64_t>(batch.dims().begin() + 1, batch.dims().end()));
}

// The graph of these values alone.
Graph graph_of(const ir::Graph& graph, const std::vector<int>& values) {
  ir::Graph part = graph;
  part.loss.reset();
  part.metrics.clear();
  part.outputs.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    part.outputs.emplace_back(std::to_string(i), values[i]);
  }
  Graph made;
  made.ir() = passes::remove_dead_code(part);
  return made;
}

}  // namespace

Samples::Samples(const ir::Graph& graph, const data::Dataset& data, int64_t count, int64_t batch)
    : data_(data), count_(std::min(count, data.size())), batch_(batch) {
  const std::vector<data::Field>& have = data.fields();
  for (const ir::ValueData& input : graph.values) {
    if (input.role != ir::Role::input) continue;
    const auto found = std::find_if(have.begin(), have.end(),
                                    [&](const auto& field) { return input.name == field.name; });
    if (found == have.end()) {
      throw Error(input.name, "the data have no field of this name, which is an input");
    }
    const Shape sample = sample_shape(input.type.shape);
    if (found->dtype != input.type.dtype || found->shape.elements() != sample.elements()) {
      throw Error(input.name, fmt::format("the data have samples {}{} for the input {}{}",
                                          to_string(found->dtype), to_string(found->shape),
                                          to_string(input.type.dtype), to_string(sample)));
    }
    if (sample.elements() * bits(input.type.dtype) % 8 != 0) {
      throw Error(input.name, "samples of packed types must fill whole bytes to calibrate with");
    }
    fields_.push_back(
        {static_cast<size_t>(found - have.begin()), input.name, input.type.dtype, sample});
  }
}

void Samples::for_each(const std::function<void(const Inputs&, int64_t samples)>& visit) const {
  const std::vector<data::Field>& have = data_.fields();
  // Fields that no input takes are read as well.
  std::vector<std::vector<std::byte>> one(have.size());
  std::vector<void*> to(have.size());
  for (size_t f = 0; f < have.size(); ++f) {
    one[f].resize(static_cast<size_t>(size_bytes(have[f].dtype, have[f].shape)));
  }
  for (int64_t first = 0; first < count_; first += batch_) {
    const int64_t n = std::min(batch_, count_ - first);
    std::vector<std::vector<std::byte>> rows(fields_.size());
    for (size_t i = 0; i < fields_.size(); ++i) {
      rows[i].resize(one[fields_[i].place].size() * static_cast<size_t>(n));
    }
    for (int64_t s = 0; s < n; ++s) {
      for (size_t f = 0; f < have.size(); ++f) to[f] = one[f].data();
      for (size_t i = 0; i < fields_.size(); ++i) {
        const size_t bytes = one[fields_[i].place].size();
        to[fields_[i].place] = rows[i].data() + bytes * static_cast<size_t>(s);
      }
      data_.read(first + s, to);
    }
    Inputs inputs;
    for (size_t i = 0; i < fields_.size(); ++i) {
      std::vector<int64_t> dims = fields_[i].sample.dims();
      dims.insert(dims.begin(), n);
      inputs.insert_or_assign(
          fields_[i].name,
          Array::of_bytes(fields_[i].dtype, Shape(std::move(dims)), std::move(rows[i])));
    }
    visit(inputs, n);
  }
}

bool is_per_sample(const ir::TensorType& type) {
  const std::vector<int64_t>& dims = type.shape.dims();
  const auto is_of_batch = [](int64_t dim) { return ir::with_batch(dim, 1) != dim; };
  return !dims.empty() && dims[0] == kBatch &&
         std::none_of(dims.begin() + 1, dims.end(), is_of_batch);
}

Probe::Probe(const ir::Graph& graph, const std::vector<int>& values, int64_t batch, int threads)
    : count_(values.size()), predictor_(graph_of(graph, values), batch, threads) {}

std::vector<Array> Probe::run(const Inputs& inputs) {
  std::map<std::string, Array> computed = predictor_.run(inputs);
  std::vector<Array> values;
  values.reserve(count_);
  for (size_t i = 0; i < count_; ++i) values.push_back(std::move(computed.at(std::to_string(i))));
  return values;
}

}  // namespace thimble::quantizing
