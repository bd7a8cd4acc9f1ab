// Compiles a trainer's programs within its memory budget.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/optimizer_value.h"
#include "passes/passes.h"
#include "plan/binding.h"
#include "plan/budget/strategies.h"
#include "train/compile.h"
#include "train/pipeline_bytes.h"
#include "train/saved_activations.h"
#include "train/state.h"
#include "train/state_bytes.h"

namespace thimble::train {
namespace {

constexpr int64_t kLeastForRates = int64_t{1} << 20;
constexpr double kClearlyLonger = 1.1;  // factor; disks are not steady

// Whether a missing swap file is an error: the user asked for swap.
bool is_swap_asked_for(const TrainerOptions& options) {
  return options.swap == Swap::always || !options.swap_dir.empty();
}

// The same that keeps its state as f32.
Optimizer with_whole_state(const Optimizer& optimizer) {
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  if (rule.state_bits == nullptr) return optimizer;
  return Optimizer::parse(fmt::format("{}:{}=32", rule.name, rule.state_bits), optimizer);
}

}  // namespace

void State::split(int64_t parts) {
  part_ = part_size(options.batch, parts);
  ignored_labels_.clear();
  if (parts == 1) return;
  const std::string why = why_not(parts);
  if (!why.empty()) {
    throw Error(
        "micro_batches",
        fmt::format("a batch cannot be computed in {} micro-batches: {}. Set micro_batches to 1, "
                    "or take a smaller batch",
                    parts, why));
  }
  ignored_labels_ = ignored_labels(model);
}

std::string State::why_not(int64_t parts) const {
  TrainerOptions wanted = options;
  wanted.micro_batches = parts;
  return why_not_micro_batches(model, wanted);
}

void State::choose_parts() {
  struct Choice {
    int64_t parts;
    bool fits;
    int64_t bytes;  // the bytes it needs, if it does not fit
    double ms;
  };
  const auto is_better = [](const Choice& a, const Choice& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits ? a.ms < b.ms : a.bytes < b.bytes;
  };
  std::optional<Choice> best;
  // The number of micro-batches decides how sums are rounded, so it must not depend on
  // measurements.
  by_nominal_rates_ = true;
  for (int64_t parts = 1; parts <= options.batch; parts *= 2) {
    if (parts > 1 && !why_not(parts).empty()) break;
    split(parts);
    compile();
    const Plan now = plan();
    const Choice choice{parts, now.fits, now.nearest_feasible_bytes, now.step_ms};
    const bool better = !best || is_better(choice, *best);
    // Smaller micro-batches only take longer from here on.
    if (!better && best->fits) break;
    if (better) best = choice;
  }
  by_nominal_rates_ = false;
  split(best->parts);
  compile();
}

void State::compile() {
  if (options.memory_budget <= 0) return compile(0, swap_);
  compile_within_budget(swap_);
  if (!settle_swap(runner.missing_file_bytes())) return compile_within_budget(swap_);
  if (keeps_budget() || runner.plan(update_key()).staging_bytes == 0) return;
  // The staging of a program beside the step may cost more than swapping saves.
  const int64_t swapping = needed_bytes();
  compile_within_budget(Swap::never);
  if (!keeps_budget() && needed_bytes() > swapping) compile(1, swap_);
}

void State::compile_within_budget(Swap swap) {
  const int64_t bytes = options.memory_budget - pipeline_bytes(model, options) - tables_bytes_;
  compile(std::max<int64_t>(bytes, 1), swap);
  const auto is_kept_alone = [&] {
    return plan::counted_bytes(runner.at(update_key()).program->plan()) <= budget_.bytes;
  };
  // All constants are known now.
  if (!keeps_budget() && is_kept_alone()) {
    compile(std::max<int64_t>(bytes - most_constants_, 1), swap);
  }
  // The step may fill its budget and leave too little for the programs beside it.
  if (!keeps_budget() && is_kept_alone()) {
    const int64_t missing = needed_bytes() - options.memory_budget;
    compile(std::max<int64_t>(budget_.bytes - missing, 1), swap);
  }
  // The smallest plan is the same for all budgets, so the budget that one refusal names works for
  // any other.
  if (!keeps_budget() && budget_.bytes > 1) compile(1, swap);
}

void State::compile(int64_t bytes, Swap swap) {
  runner.clear();
  rehearsed_.reset();
  budget_.bytes = bytes;
  budget_.swap = swap;
  budget_.in_file.reset();
  budget_.saved = saved_activations(options.saved_activations);
  budget_.explain = true;
  if (by_nominal_rates_) {
    budget_.times = nullptr;
  } else if (!budget_.times) {
    // Measuring takes memory, too, so a small budget does without.
    const bool may_measure = bytes == 0 || bytes >= kLeastForRates;
    budget_.times =
        std::make_shared<plan::NodeTimes>(may_measure ? runner.rates() : plan::NodeTimes());
  }
  budget_.micro_batches = part_size(options.batch, part_);
  disk_->set_budget(bytes, by_nominal_rates_);
  budget_.device = disk_;
  budget_.least_staging_bytes = exec::SwapFile::staging_bytes(Runner::swap_options(kSwapPage));
  const ProgramKey main = update_key();
  budget_.memo = memo_of(main);
  runner.add(main, graph_of(static_cast<ProgramKind>(main.first), part_), budget_);
  int64_t of_other_batches = runner.small_constant_bytes(main);
  const auto add = [&](ProgramKind other, int64_t size) {
    const ProgramKey key{static_cast<int>(other), size};
    if (runner.find(key) != nullptr) return;
    ir::Graph graph = graph_of(other, size);
    plan::Budget beside = budget_beside(graph);
    beside.memo = memo_of(key);
    runner.add(key, std::move(graph), beside);
    of_other_batches += runner.small_constant_bytes(key);
  };
  if (accumulates()) {
    const int64_t rest = options.batch % part_;
    for (const int64_t size : {part_, rest == 0 ? part_ : rest}) {
      add(ProgramKind::accumulate, size);
      add(ProgramKind::finish, size);
    }
  }
  // A plan must know how much evaluation takes. A training without a budget need not hold its
  // program before the first evaluation.
  add(ProgramKind::evaluate, part_);
  const ProgramKey evaluation{static_cast<int>(ProgramKind::evaluate), part_};
  // The last batch of a training is smaller; that of a validation may have yet another size.
  of_other_batches += runner.small_constant_bytes(evaluation);
  most_constants_ = runner.constant_bytes() + of_other_batches;
  if (bytes == 0) runner.drop_if_covered(evaluation, main);
}

std::shared_ptr<plan::Memo> State::memo_of(const ProgramKey& key) {
  if (memos_ == nullptr) return nullptr;
  std::shared_ptr<plan::Memo>& memo = (*memos_)[key];
  if (!memo) memo = std::make_shared<plan::Memo>();
  return memo;
}

void State::drop_memos() {
  own_memos_.clear();
  budget_.memo.reset();
}

plan::Budget State::budget_beside(const ir::Graph& graph) const {
  const exec::Program& main = *runner.at(update_key()).program;
  plan::Budget budget = budget_;
  budget.explain = false;
  budget.memo = nullptr;
  budget.in_file = main.in_file();
  if (swap_ == Swap::never) budget.swap = swap_;
  // All programs use one swap file.
  const int64_t staging = main.plan().staging_bytes;
  if (staging > 0) {
    budget.least_staging_bytes = staging;
    budget.device = std::make_shared<plan::KnownSwapDevice>(disk_->rates_with(staging));
  }
  if (budget.bytes > 0) {
    // Parameters that nothing reads have no memory.
    const int64_t own = plan::resident_bytes(passes::remove_dead_code(graph), main.in_file());
    budget.bytes -= plan::resident_bytes(main.graph(), main.in_file()) - own;
    budget.bytes = std::max<int64_t>(budget.bytes, 1);
  }
  return budget;
}

int64_t State::reserved_bytes() const {
  return std::max<int64_t>(most_constants_ - runner.constant_bytes(), 0) + tables_bytes_;
}

int64_t State::needed_bytes() const {
  return runner.plan(update_key()).planned_peak_bytes + pipeline_bytes(model, options) +
         reserved_bytes();
}

void State::require_room(ProgramKind kind, int64_t batch) const {
  const int64_t needed = needed_bytes();
  if (options.memory_budget <= 0 || needed <= options.memory_budget) return;
  const std::string what = kind == ProgramKind::predict     ? "predicting"
                           : kind == ProgramKind::evaluate  ? "evaluating"
                           : kind == ProgramKind::gradients ? "computing gradients"
                                                            : "training";
  // With more memory other parameters may lie in the file and staging is larger; the budget has
  // room for both.
  const Plan main = runner.plan(update_key());
  const int64_t more_staging =
      main.staging_bytes == 0
          ? 0
          : exec::SwapFile::staging_bytes(Runner::swap_options(exec::kMostStagingBuffer)) -
                main.staging_bytes;
  const int64_t enough = needed + main.in_file_bytes + more_staging;
  const Plan& own = runner.at({static_cast<int>(kind), batch}).program->plan();
  throw Error("memory budget",
              fmt::format("{} with batches of {} needs {} at least, with all that training holds; "
                          "the budget is {}; {}. The trainer stays as it was. Nearest "
                          "budget that works: {} bytes, or take a smaller batch",
                          what, batch, format_bytes(needed), format_bytes(options.memory_budget),
                          plan::binding_text(own), enough));
}

bool State::settle_swap(int64_t bytes) {
  if (swap_ == Swap::never) return true;
  const std::string why = exec::SwapFile::why_not(options.swap_dir, bytes);
  if (!why.empty()) no_swap_ = why;
  if (no_swap_.empty()) no_swap_ = disk_->error();
  if (no_swap_.empty()) return true;
  if (is_swap_asked_for(options)) throw Error("swap file", no_swap_);
  swap_ = Swap::never;
  return false;
}

bool State::swaps() const { return !runner.at(update_key()).program->slot_bytes().empty(); }

void State::compile_by_measured_times() {
  const std::shared_ptr<const plan::NodeTimes> first_times = budget_.times;
  // The smallest plan does not ask for rates.
  const plan::SwapRates first_rates = disk_->known();
  Rehearsed first = rehearse();
  auto times = std::make_shared<plan::NodeTimes>(*first_times);
  plan::SwapRates rates = first_rates;
  exec::learn(first.took, *runner.at(update_key()).program, *times, rates);
  first.took.node_ms = std::vector<double>();
  compile_anew(std::move(times), rates);
  // The smallest plan depends on the times. The budget may be that of the first one.
  if (keeps_budget()) {
    seal();
    if (!swaps()) return;
    Rehearsed second = rehearse();
    second.took.node_ms = std::vector<double>();
    if (second.took.step_ms <= kClearlyLonger * first.took.step_ms) {
      rehearsed_ = std::move(second);
      return;
    }
  }
  compile_anew(first_times, first_rates);
  seal();
  if (swaps()) rehearsed_ = std::move(first);
}

void State::compile_anew(std::shared_ptr<const plan::NodeTimes> times,
                         const plan::SwapRates& rates) {
  budget_.times = std::move(times);
  disk_->set(rates);
  runner.clear();
  compile();
}

void State::seal() {
  check_budget(plan());
  drop_memos();
  try {
    runner.seal(options.swap_dir);
  } catch (const Error& error) {
    if (error.where() != "swap file" || is_swap_asked_for(options)) throw;
    no_swap_ = error.message();
    swap_ = Swap::never;
    compile();
    check_budget(plan());
    drop_memos();
    runner.seal();
  }
}

State::Rehearsed State::rehearse() {
  runner.store().initialize(options.seed);
  const Runnable& update = runner.at(update_key());
  exec::Rehearsal took = rehearse_with(*update.session, *runner.swap_file());
  const exec::Program& program = *update.program;
  const plan::SwapRates rates = disk_->rates_with(program.plan().staging_bytes);
  const plan::StallCurve curve(program.graph(), rates.costs(took.node_ms),
                               {took.step_ms - took.stall_ms, took.busy_ms, took.stall_ms});
  return {std::move(took), curve};
}

double State::expected_stall_ms(double ran_ms, const exec::SwapCounters& swapped) const {
  if (!rehearsed_) return 0.0;
  return rehearsed_->curve.stall_ms(ran_ms - swapped.stall_ms, swapped.busy_ms);
}

Plan State::plan() const {
  if (compiled_plan_) return *compiled_plan_;
  Plan plan = runner.plan(update_key());
  if (rehearsed_) {
    const exec::Rehearsal& took = rehearsed_->took;
    plan::predict_as_rehearsed(plan, took.step_ms, took.busy_ms, took.stall_ms);
  }
  plan.saved_state_bytes = saved_state_bytes(runner.at(update_key()).program->graph());
  if (part_ < options.batch) add_parts(plan);
  add_asked_for(plan);
  add_programs_beside(plan);
  plan.batch = options.batch;
  plan.micro_batches = (options.batch + part_ - 1) / part_;
  plan.budget_bytes = options.memory_budget;
  plan.input_pipeline_bytes = pipeline_bytes(model, options);
  plan.reserved_bytes = reserved_bytes();
  plan.no_swap = no_swap_;
  plan.fits = plan.budget_bytes <= 0 || keeps_budget();
  if (!plan.fits) plan.nearest_feasible_bytes = needed_bytes();
  return plan;
}

// Turns the plan of a micro-batch into that of a whole step.
void State::add_parts(Plan& plan) const {
  const int64_t count = part_size(options.batch, part_);
  plan.step_ms *= static_cast<double>(count);
  plan.swap_busy_ms *= static_cast<double>(count);
  plan.swap_stall_ms *= static_cast<double>(count);
  plan.swap_read_bytes *= count;
  plan.swap_written_bytes *= count;
  for (PlanStrategy& strategy : plan.strategies) {
    strategy.extra_flops *= static_cast<double>(count);
    strategy.predicted_ms *= static_cast<double>(count);
    strategy.extra_io_bytes *= count;
  }
  for (PlanCandidate& candidate : plan.candidates) {
    candidate.step_ms *= static_cast<double>(count);
  }
}

// Adds rows for options that the user set, before the planner's rows. Each row shows what the step
// would take more without the option, with own memory for all values.
void State::add_asked_for(Plan& plan) const {
  if (plan.strategies.empty()) return;
  const plan::ArenaOptions arena{.threads = runner.threads()};
  const auto unshared = [&](const TrainerOptions& wanted) {
    const StepKind kind = options.accumulate == 1 ? StepKind::update : StepKind::finish;
    return plan::unshared_bytes(
        passes::optimize(training_graph(model, wanted, options.batch, kind)), arena);
  };
  std::vector<PlanStrategy> rows;
  // Measures the step without the rows so far, from the last row to the first.
  TrainerOptions without = options;
  int64_t left = plan.strategies.front().left_bytes;
  const auto add = [&](const char* name, std::string detail, bool lossless) {
    const int64_t before = unshared(without);
    rows.push_back({.name = name,
                    .detail = std::move(detail),
                    .saved_bytes = before - left,
                    .left_bytes = left,
                    .lossless = lossless});
    left = before;
  };
  if (part_ < options.batch) {
    TrainerOptions whole_statistics = options;
    whole_statistics.split_batch_norm = false;
    const bool splits_statistics =
        options.split_batch_norm && !why_not_micro_batches(model, whole_statistics).empty();
    add("micro-batches",
        fmt::format(
            "{} of {} samples; {}", part_size(options.batch, part_), part_,
            splits_statistics ? "batch norms see those alone" : "sums are rounded otherwise"),
        !splits_statistics);
  }
  if (plan.saved_state_bytes > 0) {
    without.optimizer = with_whole_state(options.optimizer);
    for (Objective& objective : without.objectives) {
      if (objective.optimizer) objective.optimizer = with_whole_state(*objective.optimizer);
    }
    add("optimizer state in 8 bits", {}, false);
  }
  std::string frozen;
  for (const ParamGroup& group : options.groups) {
    if (group.frozen) frozen += (frozen.empty() ? "" : ", ") + group.pattern;
  }
  std::erase_if(without.groups, [](const ParamGroup& group) { return group.frozen; });
  if (!frozen.empty()) add("sparse update", std::move(frozen) + " frozen", false);
  plan.strategies.front().left_bytes = left;
  plan.strategies.insert(plan.strategies.begin() + 1, rows.rbegin(), rows.rend());
}

// Adds what the other programs take if the step alone takes less.
void State::add_programs_beside(Plan& plan) {
  if (plan.strategies.empty()) return;
  const int64_t step_bytes = plan.strategies.back().left_bytes;
  if (step_bytes == plan.planned_peak_bytes) return;
  PlanStrategy row;
  row.name = "evaluation and other programs";
  row.saved_bytes = step_bytes - plan.planned_peak_bytes;
  row.left_bytes = plan.planned_peak_bytes;
  plan.strategies.push_back(std::move(row));
}

}  // namespace thimble::train
