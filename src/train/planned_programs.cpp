#include "train/planned_programs.h"

#include <fmt/format.h>

#include <utility>

#include "ir/optimizer_value.h"
#include "train/compile.h"
#include "train/pipeline_bytes.h"
#include "train/state.h"
#include "train/state_bytes.h"

namespace thimble::train {
namespace {

// The same that keeps its state as f32.
Optimizer with_whole_state(const Optimizer& optimizer) {
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  if (rule.state_bits == nullptr) return optimizer;
  return Optimizer::parse(fmt::format("{}:{}=32", rule.name, rule.state_bits), optimizer);
}

}  // namespace

void PlannedPrograms::set_micro_batches(int64_t count) {
  state_.micro_batch_size_ = divided_up(state_.options.batch, count);
  state_.ignored_labels_.clear();
  if (count == 1) return;
  const std::string why = why_not_micro_batches_of(count);
  if (!why.empty()) {
    throw Error(
        "micro_batches",
        fmt::format("a batch cannot be computed in {} micro-batches: {}. Set micro_batches to 1, "
                    "or take a smaller batch",
                    count, why));
  }
  state_.ignored_labels_ = ignored_labels(state_.model);
}

std::string PlannedPrograms::why_not_micro_batches_of(int64_t count) const {
  TrainerOptions wanted = state_.options;
  wanted.micro_batches = count;
  return why_not_micro_batches(state_.model, wanted);
}

int64_t PlannedPrograms::micro_batch_size() const { return state_.micro_batch_size_; }

plan::ProgramKey PlannedPrograms::update_key() const { return state_.update_key(); }

std::vector<plan::ProgramKey> PlannedPrograms::other_keys() const {
  std::vector<plan::ProgramKey> keys;
  const int64_t rest = state_.options.batch % micro_batch_size();
  for (const int64_t size : {micro_batch_size(), rest == 0 ? micro_batch_size() : rest}) {
    if (!state_.accumulates()) break;
    for (const ProgramKind kind : {ProgramKind::accumulate, ProgramKind::finish}) {
      keys.push_back(key_of(kind, size));
    }
  }
  const std::vector<plan::ProgramKey> of_file = state_.file_keys();
  keys.insert(keys.end(), of_file.begin(), of_file.end());
  return keys;
}

plan::ProgramKey PlannedPrograms::evaluation_key() const {
  return key_of(ProgramKind::evaluate, micro_batch_size());
}

ir::Graph PlannedPrograms::graph_of(const plan::ProgramKey& key) const {
  return state_.graph_of(static_cast<ProgramKind>(key.kind), key.batch);
}

void PlannedPrograms::compile(const plan::ProgramKey& key, ir::Graph graph,
                              const plan::Budget& budget) {
  state_.runner.add(key, std::move(graph), budget);
}

void PlannedPrograms::drop_if_covered(const plan::ProgramKey& key, const plan::ProgramKey& by) {
  state_.runner.drop_if_covered(key, by);
}

void PlannedPrograms::clear() { state_.runner.clear(); }

const plan::Fitted* PlannedPrograms::find(const plan::ProgramKey& key) const {
  const auto found = state_.runner.programs().find(key);
  if (found == state_.runner.programs().end()) return nullptr;
  return &found->second.program->compiled().step;
}

Plan PlannedPrograms::plan(const plan::ProgramKey& key) const { return state_.runner.plan(key); }

int64_t PlannedPrograms::constant_bytes() const { return state_.runner.constant_bytes(); }

int64_t PlannedPrograms::small_constant_bytes(const plan::ProgramKey& key) const {
  return state_.runner.small_constant_bytes(key);
}

int64_t PlannedPrograms::missing_file_bytes() const { return state_.runner.missing_file_bytes(); }

int64_t PlannedPrograms::tables_bytes() const { return state_.tables_bytes(); }

int64_t PlannedPrograms::input_pipeline_bytes() const {
  return pipeline_bytes(state_.model, state_.options);
}

int64_t PlannedPrograms::saved_state_bytes() const {
  return train::saved_state_bytes(find(update_key())->graph);
}

std::vector<plan::RequestedStrategy> PlannedPrograms::requested_strategies() const {
  const TrainerOptions& options = state_.options;
  std::vector<plan::RequestedStrategy> rows;
  TrainerOptions without = options;
  const auto add = [&](const char* name, std::string detail, bool lossless) {
    const StepKind kind = options.accumulate == 1 ? StepKind::update : StepKind::finish;
    rows.push_back({name, std::move(detail), lossless,
                    training_graph(state_.model, without, options.batch, kind)});
  };
  if (micro_batch_size() < options.batch) {
    TrainerOptions whole_statistics = options;
    whole_statistics.split_batch_norm = false;
    const bool splits_statistics =
        options.split_batch_norm && !why_not_micro_batches(state_.model, whole_statistics).empty();
    add("micro-batches",
        fmt::format(
            "{} of {} samples; {}", divided_up(options.batch, micro_batch_size()),
            micro_batch_size(),
            splits_statistics ? "batch norms see those alone" : "sums are rounded otherwise"),
        !splits_statistics);
  }
  if (saved_state_bytes() > 0) {
    without.optimizer = with_whole_state(options.optimizer);
    for (Objective& objective : without.objectives) {
      if (objective.optimizer) objective.optimizer = with_whole_state(*objective.optimizer);
    }
    add("optimizer state in 8 bits", {}, false);
  }
  if (without.scheme) {
    without.scheme.reset();
    const TrainedCounts counts = trained_counts(find(update_key())->graph);
    try {
      add("sparse update", fmt::format("{} of {} parameters", counts.trained, counts.parameters),
          false);
    } catch (const Error&) {
      // There is nothing to compare with where the whole model cannot be trained.
    }
  }
  std::string frozen;
  for (const ParamGroup& group : options.groups) {
    if (group.frozen) frozen += (frozen.empty() ? "" : ", ") + group.pattern;
  }
  std::erase_if(without.groups, [](const ParamGroup& group) { return group.frozen; });
  if (!frozen.empty()) add("sparse update", std::move(frozen) + " frozen", false);
  return rows;
}

plan::NodeTimes PlannedPrograms::rates() { return state_.runner.rates(); }

void PlannedPrograms::allocate() {
  state_.runner.seal(state_.options.swap_dir, state_.options.memory_budget > 0);
}

plan::Rehearsal PlannedPrograms::rehearse() {
  state_.runner.store().initialize(state_.options.seed);
  return state_.rehearse_with(*state_.runner.at(update_key()).session, *state_.runner.swap_file());
}

}  // namespace thimble::train
