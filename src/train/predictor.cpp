#include <fmt/format.h>
#include <thimble/model_file.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ir/element.h"
#include "train/checkpoint.h"
#include "train/collected.h"
#include "train/compile.h"
#include "train/given_values.h"
#include "train/runner.h"

namespace thimble {

struct Predictor::State {
  State(ir::Graph graph, int64_t wanted_batch, int threads, bool fast = true)
      : model(std::move(graph)), given(model), batch(wanted_batch), runner(threads, fast) {
    for (const auto& [name, id] : model.outputs) train::require_parts_of_samples(model, name);
    runner.add_inference({0, batch}, train::inference_graph(model, batch, false));
    runner.seal();
  }

  exec::Session& session(int64_t count) {
    if (train::Runnable* const known = runner.find({0, count})) return *known->session;
    return *runner.extend({0, count}, train::inference_graph(model, count, false)).session;
  }

  ir::Graph model;
  train::GivenValues given;  // of the model's parameters and states, until the store has them
  int64_t batch;
  train::Runner runner;
};

Predictor::Predictor(const Graph& graph, const std::string& checkpoint, int64_t batch, int threads,
                     bool reference_kernels)
    : state_(std::make_unique<State>(graph.ir(), batch, threads, !reference_kernels)) {
  train::load_weights(state_->runner.store(), state_->model, checkpoint);
  state_->runner.rebind();
}
Predictor::Predictor(const std::string& model_file, int64_t batch, int threads)
    : Predictor(load_graph(model_file), model_file, batch, threads) {}
Predictor::Predictor(const Graph& graph, int64_t batch, int threads)
    : state_(std::make_unique<State>(graph.ir(), batch, threads)) {
  state_->given.require_all(state_->model);
  state_->given.write_to(state_->runner.store());
  state_->given = {};
}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

Plan Predictor::plan() const { return state_->runner.plan({0, state_->batch}); }

namespace {

// An input of a run and the samples it holds.
struct Given {
  const ir::ValueData* source;
  Array values;
  int64_t sample;  // elements
};

Given given_for(const ir::ValueData& source, const Array& values) {
  const std::vector<int64_t>& dims = source.type.shape.dims();
  const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
  const auto fail = [&](const std::string& what) {
    throw Error(source.name,
                fmt::format("expected {}[count{}, got {}{}: {}", to_string(source.type.dtype),
                            sample.rank() == 0 ? "]" : ", " + to_string(sample).substr(1),
                            to_string(values.dtype()), to_string(values.shape()), what));
  };
  if (values.dtype() != source.type.dtype) fail("convert it with Array::cast");
  const int64_t elements = sample.elements();
  const bool in_a_row = values.shape().rank() == 1;
  bool fits = in_a_row || values.shape().rank() == sample.rank() + 1;
  for (int axis = 0; fits && !in_a_row && axis < sample.rank(); ++axis) {
    fits = values.shape()[axis + 1] == sample[axis];
  }
  if (!fits || elements == 0 || values.elements() % elements != 0) {
    fail("give whole samples");
  }
  return {&source, values, elements};
}

// Elements first to first + count of an array.
void copy_elements(std::span<std::byte> to, const Array& from, int64_t first, int64_t count) {
  const DType dtype = from.dtype();
  const int64_t bit = first * bits(dtype);
  if (bit % 8 == 0) {
    const auto bytes = static_cast<size_t>((count * bits(dtype) + 7) / 8);
    std::memcpy(to.data(), from.bytes().data() + bit / 8, std::min(bytes, to.size()));
    return;
  }
  const int type = static_cast<int>(dtype);
  for (int64_t i = 0; i < count; ++i) {
    element_store_int(to.data(), type, i, element_load_int(from.bytes().data(), type, first + i));
  }
}

}  // namespace

std::map<std::string, Array> Predictor::run(const std::map<std::string, Array>& inputs) {
  std::vector<Given> feeds;
  int64_t count = -1;
  for (const ir::ValueData& data : state_->model.values) {
    if (data.role != ir::Role::input) continue;
    const auto found = inputs.find(data.name);
    if (found == inputs.end()) throw Error(data.name, "this input is missing");
    feeds.push_back(given_for(data, found->second));
    const int64_t samples = feeds.back().values.elements() / feeds.back().sample;
    if (count >= 0 && samples != count) {
      throw Error(data.name, fmt::format("holds {} samples, the other inputs hold {}; give as many",
                                         samples, count));
    }
    count = samples;
  }
  std::map<std::string, train::Collected> collected;
  for (int64_t first = 0; first < count; first += state_->batch) {
    const int64_t n = std::min(state_->batch, count - first);
    exec::Session& session = state_->session(n);
    for (const Given& feed : feeds) {
      const std::span<std::byte> bytes = session.source(*feed.source->name);
      if (bytes.empty()) continue;
      copy_elements(bytes, feed.values, first * feed.sample, n * feed.sample);
    }
    static_cast<void>(session.run());
    for (const auto& [name, id] : state_->model.outputs) {
      const ir::TensorType& type = state_->model.type(id);
      collected[name].add(type.dtype, session.output(name),
                          ir::with_batch(type.shape, n).elements());
    }
  }
  std::map<std::string, Array> results;
  for (const auto& [name, id] : state_->model.outputs) {
    const ir::TensorType& type = state_->model.type(id);
    results[name] =
        Array::of_bytes(type.dtype, ir::with_batch(type.shape, std::max<int64_t>(count, 0)),
                        collected[name].take());
  }
  return results;
}

}  // namespace thimble
