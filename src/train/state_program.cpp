// A trainer's state from and to programs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/arena.h"
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
      micro_batch_size_(training.part),
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
  prepare_training(samples);
  program(ProgramKind::evaluate, micro_batch_size_);
  prepare(test_samples, ProgramKind::evaluate);
  if (predict) {
    if (model.outputs.empty()) {
      throw Error("predict", "the graph has no output to predict; name one with Graph::output");
    }
    program(ProgramKind::predict, micro_batch_size_);
    prepare(test_samples, ProgramKind::predict);
  }
  TrainingProgram training;
  training.options = options;
  training.options.threads = runner.threads();
  training.part = micro_batch_size_;
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
