// A trainer's state from and to programs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/arena.h"
#include "train/pipeline_bytes.h"
#include "train/program_tables.h"
#include "train/state.h"

namespace thimble::train {
namespace {

// Contents that are counted while they are in use.
struct Counted {
  exec::Held held;
  std::shared_ptr<const std::byte> contents;
};

// Counts constants that several programs share once.
class ConstantCounter {
 public:
  void count(program::Program& program) {
    for (const program::Tensor& tensor : program.tensors) {
      if (tensor.place != program::Place::constant) continue;
      auto& contents = program.constants[static_cast<size_t>(tensor.at)];
      contents = counted(contents, plan::aligned(tensor.bytes()));
    }
  }

 private:
  std::shared_ptr<const std::byte> counted(const std::shared_ptr<const std::byte>& contents,
                                           int64_t bytes) {
    std::shared_ptr<const std::byte>& known = known_[contents.get()];
    if (!known) {
      const auto both = std::make_shared<const Counted>(Counted{exec::Held(bytes), contents});
      known = {both, both->contents.get()};
    }
    return known;
  }

  std::map<const std::byte*, std::shared_ptr<const std::byte>> known_;
};

const char* option_of(ProgramKind kind) {
  if (kind == ProgramKind::predict) {
    return "predict and, of a last smaller batch, test_samples; on the command line --predict and "
           "--test-samples";
  }
  return kind == ProgramKind::evaluate ? "test_samples; on the command line --test-samples"
                                       : "samples; on the command line --samples";
}

}  // namespace

State::State(TrainingProgram training)
    : finishes(std::move(training.finishes)),
      model(std::move(training.interface)),
      model_parts(std::move(training.model)),
      given(std::move(training.given)),
      options(std::move(training.options)),
      schedule(options.schedule ? *options.schedule
                                : Schedule::constant(options.optimizer.learning_rate())),
      runner(options.threads),
      indices(std::move(training.indices)),
      own_momentum(options.optimizer.momentum()),
      micro_batch_size_(training.micro_batch_size),
      ignored_labels_(std::move(training.ignored_labels)),
      compiled_plan_(std::move(training.plan)) {
  check_metric(model, schedule.metric());
  const exec::Counting counting(account);
  beside_ = exec::Held(training.tables_bytes + sums_bytes(model));
  ConstantCounter counter;
  for (auto& [key, program] : training.programs) {
    counter.count(program);
    runner.add(key, std::move(program));
  }
}

TrainingProgram State::programs() const {
  TrainingProgram training;
  training.options = options;
  training.options.threads = runner.threads();
  training.micro_batch_size = micro_batch_size_;
  training.interface = interface_of(model);
  training.finishes = finishes;
  training.model = *model_parts;
  training.indices = indices;
  training.ignored_labels = ignored_labels_;
  training.plan = plan();
  training.plan.buffers.clear();
  training.plan.steps.clear();
  training.plan.candidates.clear();
  training.plan.peak_step = 0;
  for (const auto& [key, runnable] : runner.programs()) {
    training.programs.emplace(key, runnable.program->data());
  }
  training.tables_bytes = tables_bytes();
  return training;
}

std::vector<ProgramKey> State::file_keys() const {
  if (!file_) return {};
  std::vector<std::pair<ProgramKind, int64_t>> needed = training_programs(file_->samples);
  for (const ProgramKind kind : {ProgramKind::evaluate, ProgramKind::predict}) {
    if (kind == ProgramKind::predict && !file_->predict) break;
    needed.emplace_back(kind, micro_batch_size_);
    const auto more = forward_programs(file_->test_samples, kind);
    needed.insert(needed.end(), more.begin(), more.end());
  }
  std::vector<ProgramKey> keys;
  for (const auto& [kind, count] : needed) keys.push_back(key_of(kind, count));
  return keys;
}

int64_t State::tables_bytes() const {
  auto bytes = static_cast<int64_t>(model_parts->graph.size());
  std::vector<const program::Program*> programs;
  for (const auto& [key, runnable] : runner.programs()) {
    programs.push_back(&runnable.program->data());
    bytes += program_bytes(*programs.back());
  }
  return held_tables_bytes(bytes) + folded_constant_bytes(*model_parts, programs);
}

int64_t State::samples_with_programs(int64_t samples, bool training) const {
  if (!compiled_plan_) return samples;
  const auto needed =
      training ? training_programs(samples) : forward_programs(samples, ProgramKind::evaluate);
  const bool has_all = std::all_of(needed.begin(), needed.end(), [&](const auto& program) {
    return runner.programs().count(key_of(program.first, program.second)) > 0;
  });
  const int64_t full = samples / options.batch * options.batch;
  return has_all || full == 0 ? samples : full;
}

void State::require_programs(int64_t samples, ProgramKind kind) const {
  if (!compiled_plan_) return;
  for (const auto& [same_kind, count] : forward_programs(samples, kind)) {
    if (runner.programs().count(key_of(kind, count)) == 0) refuse_program(kind, count);
  }
}

void State::refuse_program(ProgramKind kind, int64_t batch) const {
  if (kind == ProgramKind::gradients) {
    throw Error(
        "program",
        "holds nothing that computes gradients alone: its steps use them up. Train with step "
        "or fit, or take gradients from a trainer of the graph, which save_model writes "
        "and load_model reads");
  }
  throw Error(
      "program",
      fmt::format("holds nothing for {} {} samples at once, the last batch of these data; "
                  "compile it for their number ({}), or leave out what fills no batch of {}",
                  work_of(kind), batch, option_of(kind), micro_batch_size_));
}

TrainingProgram compiled_programs(const ir::Graph& model, const TrainerOptions& options,
                                  const CompileFor& data, State::Memos* memos,
                                  const Rehearse& rehearse_with) {
  State state(model, options, memos, &data);
  state.rehearse_with = rehearse_with;
  GivenValues given = state.given;
  state.allocate();
  TrainingProgram training = state.programs();
  training.given = std::move(given);
  training.name = data.name;
  training.recipe = data.recipe;
  training.epochs = data.epochs;
  return training;
}

}  // namespace thimble::train
