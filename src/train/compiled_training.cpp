#include <thimble/compiled_training.h>
#include <thimble/error.h>

#include <algorithm>
#include <utility>

#include "plan/budget/training_planner.h"
#include "train/program_tables.h"
#include "train/state.h"
#include "train/training_program.h"

namespace thimble {

CompiledTraining::CompiledTraining(std::shared_ptr<train::TrainingProgram> programs)
    : programs_(std::move(programs)) {}

namespace train {
namespace {

// Compiles the programs of a training whose tables count in its budget. How long they are is known
// once the step is planned, and a step in less memory is longer.
class Compiling {
 public:
  // All must outlive it.
  Compiling(const Graph& graph, const TrainerOptions& options, const CompileFor& data)
      : graph_(graph), options_(options), data_(data) {}

  TrainingProgram run() {
    int64_t tables_bytes = 0;
    for (int i = 0;; ++i) {
      Planned planned = plan_within(options_.memory_budget, tables_bytes);
      if (!planned.fits) refuse(planned);
      State& state = *planned.state;
      tables_bytes = planned.tables_bytes;
      GivenValues given = state.given;
      state.allocate();
      TrainingProgram made = state.programs(data_.samples, data_.test_samples, data_.predict);
      made.given = std::move(given);
      made.tables_bytes = held_tables_bytes(made);
      made.plan.reserved_bytes += made.tables_bytes - tables_bytes;
      planned.needed = bytes_of(made.plan);
      if (options_.memory_budget == 0 || planned.needed <= options_.memory_budget) return made;
      if (i == kMostPlans) refuse(planned);
      tables_bytes = made.tables_bytes;
    }
  }

 private:
  static constexpr int kMostPlans = 4;
  // Where the step swaps, measured times may make the tables longer than planned, by this fraction.
  static constexpr int64_t kMargin = 4;

  struct Planned {
    std::unique_ptr<State> state;
    int64_t tables_bytes = 0;  // reserved for the tables by this plan
    int64_t needed = 0;        // bytes in all
    bool fits = false;
  };

  static int64_t bytes_of(const Plan& plan) {
    return plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes;
  }

  // Plans a step that leaves room for its tables: of so many bytes, or what it turns out they take.
  Planned plan_within(int64_t budget, int64_t tables_bytes) {
    TrainerOptions options = options_;
    options.memory_budget = budget;
    for (int i = 0;; ++i) {
      Planned made;
      made.tables_bytes = tables_bytes;
      made.state = std::make_unique<State>(graph_.ir(), options, budget > 0 ? &memos_ : nullptr,
                                           tables_bytes);
      if (budget <= 0) {
        made.fits = true;
        return made;
      }
      const int64_t expected =
          made.state->expected_tables_bytes(data_.samples, data_.test_samples, data_.predict);
      const Plan plan = made.state->plan();
      made.needed = bytes_of(plan) - tables_bytes + expected;
      const bool has_room = made.needed <= budget;
      made.fits = plan.fits && has_room;
      // A plan that does not fit is the smallest.
      if (made.fits || (!plan.fits && !has_room) || i == kMostPlans) {
        if (plan.staging_bytes > 0) made.needed += expected / kMargin;
        return made;
      }
      made.state.reset();
      tables_bytes = expected;
    }
  }

  // Throws Error naming a budget within which a plan was found to fit, if a few tries find one.
  [[noreturn]] void refuse(const Planned& refused) {
    Plan plan = refused.state->plan();
    int64_t budget = std::max(refused.needed, options_.memory_budget + 1);
    // In more memory the planner may find a step of longer tables.
    for (int i = 0; i < kMostPlans; ++i) {
      const Planned planned = plan_within(budget, 0);
      if (planned.fits) break;
      budget = std::max(planned.needed, budget + 1);
    }
    plan.fits = false;
    plan.nearest_feasible_bytes = budget;
    plan::refuse_budget(plan);
  }

  const Graph& graph_;
  const TrainerOptions& options_;
  const CompileFor& data_;
  State::Memos memos_;  // of plans for different budgets
};

}  // namespace
}  // namespace train

CompiledTraining::CompiledTraining(const Graph& graph, const TrainerOptions& options,
                                   const CompileFor& data) {
  if (data.samples < 0 || data.test_samples < 0) {
    throw Error("compile", "expected 0 or more samples, 0 for full batches alone");
  }
  programs_ =
      std::make_shared<train::TrainingProgram>(train::Compiling(graph, options, data).run());
  programs_->name = data.name;
  programs_->recipe = data.recipe;
  programs_->epochs = data.epochs;
}

CompiledTraining CompiledTraining::load(const std::string& path) {
  return CompiledTraining(std::make_shared<train::TrainingProgram>(train::read_training(path)));
}

void CompiledTraining::save(const std::string& path) const {
  train::write_training(*programs_, path);
}

const TrainerOptions& CompiledTraining::options() const { return programs_->options; }

void CompiledTraining::set_swap_dir(const std::string& folder) {
  if (programs_.use_count() > 1) {
    programs_ = std::make_shared<train::TrainingProgram>(*programs_);
  }
  programs_->options.swap_dir = folder;
}

const Plan& CompiledTraining::plan() const { return programs_->plan; }
const std::string& CompiledTraining::name() const { return programs_->name; }
const std::string& CompiledTraining::recipe() const { return programs_->recipe; }
int64_t CompiledTraining::epochs() const { return programs_->epochs; }

Graph CompiledTraining::interface() const {
  Graph graph;
  graph.ir() = programs_->interface;
  return graph;
}

train::TrainingProgram CompiledTraining::take() && {
  if (programs_.use_count() == 1) return std::move(*programs_);
  return *programs_;
}

}  // namespace thimble
