// A trainer's state from and to programs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/arena.h"
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

const char* work_of(ProgramKind kind) {
  if (kind == ProgramKind::predict) return "predict";
  return kind == ProgramKind::evaluate ? "evaluate" : "train";
}

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
  tables_ = exec::Held(training.tables_bytes);
  ConstantCounter counter;
  for (auto& [key, program] : training.programs) {
    counter.count(program);
    runner.add(key, std::move(program));
  }
}

TrainingProgram State::programs(int64_t samples, int64_t test_samples, bool predict) {
  if (predict && model.outputs.empty()) {
    throw Error("predict", "the graph has no output to predict; name one with Graph::output");
  }
  for (const auto& [kind, count] : all_programs(samples, test_samples, predict)) {
    program(kind, count);
  }
  TrainingProgram training;
  training.options = options;
  training.options.threads = runner.threads();
  training.micro_batch_size = micro_batch_size_;
  training.interface = interface_of(model);
  training.finishes = finishes;
  training.model = model_parts ? *model_parts : io::parts_of(described());
  training.indices = indices;
  training.ignored_labels = ignored_labels_;
  training.plan = plan();
  training.plan.buffers.clear();
  training.plan.steps.clear();
  training.plan.candidates.clear();
  training.plan.peak_step = 0;
  for (const auto& [key, runnable] : runner.programs()) {
    if (key.first == static_cast<int>(ProgramKind::gradients)) continue;
    training.programs.emplace(key, runnable.program->data());
  }
  return training;
}

std::vector<std::pair<ProgramKind, int64_t>> State::all_programs(int64_t samples,
                                                                 int64_t test_samples,
                                                                 bool predict) const {
  std::vector<std::pair<ProgramKind, int64_t>> needed = training_programs(samples);
  const auto add_forward = [&](ProgramKind kind) {
    needed.emplace_back(kind, micro_batch_size_);
    const auto more = forward_programs(test_samples, kind);
    needed.insert(needed.end(), more.begin(), more.end());
  };
  add_forward(ProgramKind::evaluate);
  if (predict) add_forward(ProgramKind::predict);
  return needed;
}

int64_t State::expected_tables_bytes(int64_t samples, int64_t test_samples, bool predict) const {
  std::map<ProgramKey, int64_t> bytes;
  for (const auto& [key, runnable] : runner.programs()) {
    bytes[key] = program_bytes(runnable.program->data());
  }
  // A program that is not there yet is as long as another of its kind, or of the step.
  const auto expected = [&](const ProgramKey& key) {
    for (const auto& [known, length] : bytes) {
      if (known.first == key.first) return length;
    }
    return bytes.at(update_key());
  };
  std::map<ProgramKey, int64_t> all = bytes;
  for (const auto& [kind, count] : all_programs(samples, test_samples, predict)) {
    const ProgramKey key{static_cast<int>(kind), count};
    all.emplace(key, expected(key));
  }
  const io::ModelParts parts = io::parts_of(described());
  auto sum = static_cast<int64_t>(parts.graph.size());
  for (const auto& [key, length] : all) sum += length;
  std::vector<const program::Program*> programs;
  for (const auto& [key, runnable] : runner.programs())
    programs.push_back(&runnable.program->data());
  return held_tables_bytes(sum) + folded_constant_bytes(parts, programs);
}

int64_t State::samples_with_programs(int64_t samples, bool training) const {
  if (!compiled_plan_) return samples;
  const auto needed =
      training ? training_programs(samples) : forward_programs(samples, ProgramKind::evaluate);
  const bool has_all = std::all_of(needed.begin(), needed.end(), [&](const auto& program) {
    return runner.programs().count({static_cast<int>(program.first), program.second}) > 0;
  });
  const int64_t full = samples / options.batch * options.batch;
  return has_all || full == 0 ? samples : full;
}

void State::require_programs(int64_t samples, ProgramKind kind) const {
  if (!compiled_plan_) return;
  for (const auto& [same_kind, count] : forward_programs(samples, kind)) {
    const ProgramKey key{static_cast<int>(kind), count};
    if (runner.programs().count(key) == 0) refuse_program(kind, count);
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
      fmt::format("holds nothing to {} {} samples at once, the last batch of these data; "
                  "compile it for their number ({}), or leave out what fills no batch of {}",
                  work_of(kind), batch, option_of(kind), micro_batch_size_));
}

}  // namespace thimble::train
