#include <fmt/format.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/accounting.h"
#include "exec/sha256.h"
#include "train/checkpoint.h"
#include "train/collected.h"
#include "train/compile.h"
#include "train/counters.h"
#include "train/single_step.h"
#include "train/state.h"
#include "train/update.h"

namespace thimble {

Plan plan_training(const Graph& graph, const TrainerOptions& options) {
  train::State::Memos memos;
  const train::State state(graph.ir(), options, &memos);
  Plan plan = state.plan();
  if (plan.nearest_feasible_bytes > 0) return plan;
  TrainerOptions least = options;
  least.memory_budget = 1;
  plan.nearest_feasible_bytes =
      train::State(graph.ir(), least, &memos).plan().nearest_feasible_bytes;
  // The smallest plan may need a larger swap file than the disk has room for.
  if (options.memory_budget > 0) {
    plan.nearest_feasible_bytes = std::min(plan.nearest_feasible_bytes, options.memory_budget);
  }
  return plan;
}

Trainer::Trainer(const Graph& graph, const TrainerOptions& options)
    : state_(std::make_unique<train::State>(graph.ir(), options)) {
  state_->allocate();
}
Trainer::Trainer(Graph&& graph, const TrainerOptions& options)
    : state_(std::make_unique<train::State>(std::exchange(graph.ir(), {}), options)) {
  state_->allocate();
}
Trainer::Trainer(CompiledTraining training)
    : state_(std::make_unique<train::State>(std::move(training).take())) {
  state_->allocate();
}
Trainer::~Trainer() = default;
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;

Plan Trainer::plan() const { return state_->plan(); }

const TrainerOptions& Trainer::options() const { return state_->options; }

Evaluation Trainer::evaluate(const data::Dataset& dataset) {
  train::LoaderStream stream(
      dataset,
      {.batch = state_->options.batch, .shuffle = false, .training = false, .prefetch = 1});
  return state_->evaluate(stream);
}

namespace {

// The samples as they lie, in one batch.
train::LoaderStream given(const data::Dataset& samples, const TrainerOptions& options) {
  return {samples, {.batch = options.batch, .shuffle = false, .training = false, .prefetch = 0}};
}

}  // namespace

Evaluation Trainer::step(const data::Dataset& samples) {
  train::LoaderStream stream = given(samples, state_->options);
  return train::single_step(*state_, stream);
}

Gradients Trainer::gradients(const data::Dataset& samples) {
  train::LoaderStream stream = given(samples, state_->options);
  struct Gradient {
    Shape shape;
    std::vector<float> values;
  };
  std::map<std::string, Gradient> found;
  Gradients result;
  result.batch =
      train::single_gradients(*state_, stream, [&](const std::string& name, const Shape& shape) {
        std::vector<float> zeros(static_cast<size_t>(shape.elements()));
        return found.try_emplace(name, Gradient{shape, std::move(zeros)})
            .first->second.values.data();
      });
  for (auto& [name, gradient] : found) {
    result.values.emplace(name, Array(std::move(gradient.values), gradient.shape));
  }
  return result;
}

Array Trainer::predict(const data::Dataset& dataset, const std::string& output) {
  const auto& outputs = state_->model.outputs;
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const auto& known) { return known.first == output; });
  if (found == outputs.end()) {
    throw Error("predict",
                "the graph has no output \"" + output + "\"; name one with Graph::output");
  }
  train::require_parts_of_samples(state_->model, output);
  const ir::TensorType& type = state_->model.type(found->second);
  train::LoaderStream stream(
      dataset,
      {.batch = state_->options.batch, .shuffle = false, .training = false, .prefetch = 1});
  train::Collected all;
  const int64_t each = ir::with_batch(type.shape, 1).elements();
  state_->predict(stream, [&](const exec::Session& session, int64_t count) {
    all.add(type.dtype, session.output(output), count * each);
  });
  return Array::of_bytes(type.dtype, ir::with_batch(type.shape, dataset.size()), all.take());
}

void Trainer::save(const std::string& path) const { train::save_checkpoint(*state_, path); }
void Trainer::resume(const std::string& path) { train::load_checkpoint(*state_, path); }
void Trainer::load_weights(const std::string& path) {
  train::load_weights(*state_, state_->model, path);
}

namespace {

const exec::Store::Entry& entry_of(const exec::Store& store, const std::string& name) {
  const exec::Store::Entry* entry = store.find(name);
  if (entry == nullptr || entry->role == ir::Role::constant) {
    throw Error(name, "no parameter or state of this name; parameter_names() lists them");
  }
  return *entry;
}

}  // namespace

Array Trainer::parameter(const std::string& name) const {
  const exec::Store::Entry& entry = entry_of(state_->runner.store(), name);
  const std::span<const std::byte> bytes = state_->runner.store().read(entry);
  return Array::of_bytes(entry.type.dtype, entry.type.shape, {bytes.begin(), bytes.end()});
}

void Trainer::set_parameter(const std::string& name, const Array& values) {
  const exec::Store::Entry& entry = entry_of(state_->runner.store(), name);
  const bool in_a_row = values.shape().rank() == 1;
  if (values.dtype() != entry.type.dtype || values.elements() != entry.type.shape.elements() ||
      (!in_a_row && values.shape() != entry.type.shape)) {
    throw Error(name, fmt::format("is {}, got {}{}: give as many elements of that type",
                                  ir::to_string(entry.type), to_string(values.dtype()),
                                  to_string(values.shape())));
  }
  const exec::Counting counting(state_->account);
  exec::Store& store = state_->runner.store();
  const auto fill = [&](std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), values.bytes().data(), bytes.size());
  };
  store.overwrite(entry, fill);
  const exec::Store::Entry* average = store.find_average(name);
  if (average != nullptr) store.overwrite(*average, fill);
}

std::vector<std::string> Trainer::parameter_names() const {
  std::vector<std::string> names;
  for (const exec::Store::Entry& entry : state_->runner.store().entries()) {
    if (entry.role == ir::Role::parameter) names.push_back(entry.name);
  }
  return names;
}

std::string Trainer::weights_sha256() const {
  std::vector<std::string> names = parameter_names();
  std::sort(names.begin(), names.end());
  exec::Sha256 hash;
  for (const std::string& name : names) {
    const exec::Store::Entry& entry = *state_->runner.store().find(name);
    hash.update(std::as_bytes(std::span(name)));
    hash.update(state_->runner.store().read(entry));
  }
  return hash.hex();
}

int64_t Trainer::steps() const { return state_->progress.step; }

void Trainer::set_steps(int64_t steps) {
  if (steps < 0 || steps > train::kMostCount) {
    throw Error("steps", fmt::format("expected a number of steps from 0, got {}", steps));
  }
  state_->progress.step = steps;
}

int64_t Trainer::epochs() const { return state_->progress.epoch; }
double Trainer::loss_scale() const { return state_->loss_scale(); }
int64_t Trainer::skipped_updates() const { return state_->skipped_updates(); }

}  // namespace thimble
