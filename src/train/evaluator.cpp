#include <fmt/format.h>
#include <thimble/evaluator.h>

#include <algorithm>
#include <utility>

#include "train/batch_stream.h"
#include "train/checkpoint.h"
#include "train/collected.h"
#include "train/compile.h"
#include "train/feed.h"
#include "train/state.h"

namespace thimble {
namespace {

// The graph with the outputs of these names alone.
ir::Graph with_outputs(ir::Graph graph, const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, int>> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(graph.outputs.begin(), graph.outputs.end(),
                                    [&](const auto& known) { return known.first == name; });
    if (found == graph.outputs.end()) {
      throw Error("evaluate",
                  "the graph has no output \"" + name + "\"; name one with Graph::output");
    }
    train::require_parts_of_samples(graph, name);
    kept.push_back(*found);
  }
  graph.outputs = std::move(kept);
  return graph;
}

const EvaluatorOptions& checked(const EvaluatorOptions& options) {
  if (options.batch >= 1) return options;
  throw Error("batch", fmt::format("expected 1 or more, got {}", options.batch));
}

}  // namespace

struct Evaluator::State {
  State(const ir::Graph& graph, const EvaluatorOptions& options)
      : batch(checked(options).batch),
        model(with_outputs(graph, options.outputs)),
        finishes(train::take_finishes(model)),
        given(model),
        runner(options.threads, !options.reference_kernels),
        indices(train::index_checks(model)) {
    if (!model.loss) {
      throw Error("evaluate", "the graph has no loss; name one with Graph::minimize");
    }
    runner.add_inference({0, batch}, train::evaluation_graph(model, batch));
    runner.seal();
  }

  exec::Session& session(int64_t count) {
    if (train::Runnable* const known = runner.find({0, count})) return *known->session;
    return *runner.extend({0, count}, train::evaluation_graph(model, count)).session;
  }

  int64_t batch;
  ir::Graph model;
  train::Finishes finishes;
  train::GivenValues given;  // until the store has them
  train::Runner runner;
  std::vector<train::IndexCheck> indices;
};

Evaluator::Evaluator(const Graph& graph, const EvaluatorOptions& options)
    : state_(std::make_unique<State>(graph.ir(), options)) {
  const train::GivenValues given = std::exchange(state_->given, {});
  if (!options.weights.empty()) {
    train::load_weights(state_->runner.store(), state_->model, options.weights);
    state_->runner.rebind();
    return;
  }
  given.require_all(state_->model);
  given.write_to(state_->runner.store());
}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Plan Evaluator::plan() const { return state_->runner.plan({0, state_->batch}); }

Evaluation Evaluator::evaluate(const data::Dataset& dataset,
                               std::map<std::string, Array>* outputs) {
  State& state = *state_;
  train::LoaderStream stream(
      dataset, {.batch = state.batch, .shuffle = false, .training = false, .prefetch = 1});
  train::Feed feed(state.model, stream, true);
  train::Sums sums;
  std::map<std::string, train::Collected> collected;
  stream.start(0, 0);
  while (const data::Batch* const batch = stream.next()) {
    exec::Session& session = state.session(batch->count);
    const train::MicroBatch all{0, batch->count};
    feed.copy(*batch, all, session);
    train::set_inference_rng(session, batch->number, all);
    if (!session.run()) {
      feed.require_indices(state.indices, *batch, "So the loss is not finite");
    }
    sums.add(session, batch->count);
    if (outputs == nullptr) continue;
    for (const auto& [name, id] : state.model.outputs) {
      const ir::TensorType& type = state.model.type(id);
      collected[name].add(type.dtype, session.output(name),
                          ir::with_batch(type.shape, batch->count).elements());
    }
  }
  if (outputs != nullptr) {
    for (const auto& [name, id] : state.model.outputs) {
      const ir::TensorType& type = state.model.type(id);
      outputs->insert_or_assign(
          name, Array::of_bytes(type.dtype, ir::with_batch(type.shape, dataset.size()),
                                collected[name].take()));
    }
  }
  return sums.mean(state.finishes);
}

}  // namespace thimble
