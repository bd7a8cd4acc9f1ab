#include <fmt/format.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <cstring>

#include "train/checkpoint.h"
#include "train/compile.h"
#include "train/runner.h"

namespace thimble {

struct Predictor::State {
  State(const Graph& graph, int64_t wanted_batch, int threads)
      : model(graph.ir()), batch(wanted_batch), runner(threads) {
    for (const auto& [name, id] : model.outputs) train::require_parts_of_samples(model, name);
    runner.add({0, batch}, train::inference_graph(model, batch, false));
    runner.seal();
  }

  exec::Session& session(int64_t count) {
    if (train::Runnable* const known = runner.find({0, count})) return *known->session;
    return *runner.extend({0, count}, train::inference_graph(model, count, false)).session;
  }

  ir::Graph model;
  int64_t batch;
  train::Runner runner;
};

Predictor::Predictor(const Graph& graph, const std::string& checkpoint, int64_t batch, int threads)
    : state_(std::make_unique<State>(graph, batch, threads)) {
  train::load_weights(state_->runner.store(), state_->model, checkpoint);
}
Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

Plan Predictor::plan() const { return state_->runner.plan({0, state_->batch}); }

std::map<std::string, std::vector<float>> Predictor::run(
    const std::map<std::string, std::vector<float>>& inputs) {
  struct Feed {
    std::string name;
    const std::vector<float>* values;
    int64_t sample;
  };
  std::vector<Feed> feeds;
  int64_t count = -1;
  for (const ir::ValueData& data : state_->model.values) {
    if (data.role != ir::Role::input) continue;
    const auto found = inputs.find(data.name);
    if (found == inputs.end()) throw Error(data.name, "this input is missing");
    const int64_t sample = ir::with_batch(data.type.shape, 1).elements();
    const auto size = static_cast<int64_t>(found->second.size());
    if (sample == 0 || size % sample != 0 || (count >= 0 && size / sample != count)) {
      throw Error(data.name, fmt::format("expected samples of {} numbers, as many as the other "
                                         "inputs have; got {} numbers",
                                         sample, size));
    }
    count = size / sample;
    feeds.push_back({data.name, &found->second, sample});
  }
  std::map<std::string, std::vector<float>> results;
  for (int64_t first = 0; first < count; first += state_->batch) {
    const int64_t n = std::min(state_->batch, count - first);
    exec::Session& session = state_->session(n);
    for (const Feed& feed : feeds) {
      const std::span<std::byte> bytes = session.source(feed.name);
      if (!bytes.empty())
        std::memcpy(bytes.data(), feed.values->data() + first * feed.sample, bytes.size());
    }
    static_cast<void>(session.run());
    for (const auto& [name, id] : state_->model.outputs) {
      const std::span<const std::byte> bytes = session.output(name);
      std::vector<float>& all = results[name];
      const size_t old = all.size();
      all.resize(old + bytes.size() / sizeof(float));
      std::memcpy(all.data() + old, bytes.data(), bytes.size());
    }
  }
  return results;
}

}  // namespace thimble
