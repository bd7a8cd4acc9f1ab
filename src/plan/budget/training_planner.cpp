#include "plan/budget/training_planner.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "passes/passes.h"
#include "plan/arena.h"
#include "plan/binding.h"
#include "plan/budget/strategies.h"

namespace thimble::plan {
namespace {

constexpr int64_t kLeastForRates = int64_t{1} << 20;
constexpr double kMostSlowdown = 1.1;  // of a plan by measured times; disks are not steady
// Plans for a budget, each of which has tables of another size, and the part of them by which the
// next ones may be longer.
constexpr int kMostTables = 4;
constexpr int64_t kTablesSlack = 64;

// Bytes; see Budget::smallest_swapped_bytes.
constexpr int64_t kLeastSwapped = 64;

// Turns the plan of a micro-batch into that of a whole step.
void scale_to_step(Plan& plan) {
  const auto factor = static_cast<double>(plan.micro_batches);
  plan.step_ms *= factor;
  plan.swap_busy_ms *= factor;
  plan.swap_stall_ms *= factor;
  plan.swap_read_bytes *= plan.micro_batches;
  plan.swap_written_bytes *= plan.micro_batches;
  for (PlanStrategy& strategy : plan.strategies) {
    strategy.extra_flops *= factor;
    strategy.predicted_ms *= factor;
    strategy.extra_io_bytes *= plan.micro_batches;
  }
  for (PlanCandidate& candidate : plan.candidates) candidate.step_ms *= factor;
}

// Adds a row for the other programs if the step alone takes less.
void add_programs_beside(Plan& plan) {
  if (plan.strategies.empty()) return;
  const int64_t step_bytes = plan.strategies.back().left_bytes;
  if (step_bytes == plan.planned_peak_bytes) return;
  plan.strategies.push_back({.name = "evaluation and other programs",
                             .saved_bytes = step_bytes - plan.planned_peak_bytes,
                             .left_bytes = plan.planned_peak_bytes});
}

}  // namespace

TrainingPlanner::TrainingPlanner(TrainingPrograms& programs,
                                 std::shared_ptr<MeasuredSwapDevice> device,
                                 const TrainingBudget& wanted, Memos* memos)
    : programs_(programs),
      device_(std::move(device)),
      wanted_(wanted),
      memos_(memos != nullptr || wanted.bytes <= 0 ? memos : &own_memos_),
      swap_(wanted.bytes > 0 ? wanted.swap : Swap::never) {}

void TrainingPlanner::compile_programs() {
  check_swap_file(0);
  if (wanted_.micro_batches == 0 && wanted_.bytes > 0) return choose_micro_batches();
  programs_.set_micro_batches(std::max<int64_t>(wanted_.micro_batches, 1));
  compile();
}

void TrainingPlanner::choose_micro_batches() {
  struct Choice {
    int64_t count;
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
  for (int64_t count = 1; count <= wanted_.batch; count *= 2) {
    if (count > 1 && !programs_.why_not_micro_batches_of(count).empty()) break;
    programs_.set_micro_batches(count);
    least_tables_.reset();
    compile();
    const Plan now = plan();
    const Choice choice{count, now.fits, now.nearest_feasible_bytes, now.step_ms};
    const bool better = !best || is_better(choice, *best);
    // Smaller micro-batches only take longer from here on.
    if (!better && best->fits) break;
    if (better) best = choice;
  }
  by_nominal_rates_ = false;
  programs_.set_micro_batches(best->count);
  least_tables_.reset();
  compile();
}

void TrainingPlanner::compile() {
  if (wanted_.bytes <= 0) return compile(0, swap_);
  compile_within_budget(swap_);
  if (!check_swap_file(programs_.missing_file_bytes())) return compile_within_budget(swap_);
  if (keeps_budget() || programs_.plan(programs_.update_key()).staging_bytes == 0) return;
  // The staging of a program beside the step may cost more than swapping saves, and so may the
  // tables of a step that recomputes, too.
  Swap best = swap_;
  int64_t least = needed_bytes();
  for (const Swap other : {Swap::always, Swap::never}) {
    if (other == Swap::always && (!wanted_.for_file || swap_ == other)) continue;
    compile_within_budget(other);
    if (keeps_budget()) return;
    if (needed_bytes() > least) continue;
    best = other;
    least = needed_bytes();
  }
  if (budget_.swap != best) compile(1, best);
}

void TrainingPlanner::compile_within_budget(Swap swap) {
  const int64_t bytes = wanted_.bytes - programs_.input_pipeline_bytes() - wanted_.sums_bytes;
  if (wanted_.for_file && !least_tables_) {
    compile(0, Swap::never);
    least_tables_ = tables_bytes_ + most_constants_;
  }
  compile(std::max<int64_t>(bytes - least_tables_.value_or(0), 1), swap);
  const auto is_kept_alone = [&] { return counted_bytes(update().arena.plan) <= budget_.bytes; };
  // All constants are known now.
  if (!keeps_budget() && is_kept_alone()) {
    compile(std::max<int64_t>(bytes - most_constants_ - tables_bytes_, 1), swap);
  }
  // The step may fill its budget and leave too little for the programs beside it, or for its
  // tables, which are longer in less memory.
  const int tries = wanted_.for_file ? kMostTables : 1;
  for (int i = 0; i < tries && !keeps_budget() && is_kept_alone(); ++i) {
    const int64_t missing = needed_bytes() - wanted_.bytes + tables_bytes_ / kTablesSlack;
    compile(std::max<int64_t>(budget_.bytes - missing, 1), swap);
  }
  // The smallest plan is the same for all budgets, so the budget that one refusal names works for
  // any other.
  if (!keeps_budget() && budget_.bytes > 1) compile(1, swap);
}

void TrainingPlanner::compile(int64_t bytes, Swap swap) {
  programs_.clear();
  rehearsed_.reset();
  budget_.bytes = bytes;
  budget_.swap = swap;
  budget_.in_file.reset();
  budget_.saved = wanted_.saved;
  budget_.explain = true;
  if (by_nominal_rates_) {
    budget_.times = nullptr;
  } else if (!budget_.times) {
    // Measuring takes memory, too, so a small budget does without.
    const bool may_measure = bytes == 0 || bytes >= kLeastForRates;
    budget_.times = std::make_shared<NodeTimes>(may_measure ? programs_.rates() : NodeTimes());
  }
  budget_.micro_batches = micro_batches();
  device_->set_budget(bytes, by_nominal_rates_);
  budget_.device = device_;
  budget_.least_staging_bytes = device_->least_staging_bytes();
  const ProgramKey main = programs_.update_key();
  budget_.memo = memo_of(main);
  programs_.compile(main, programs_.graph_of(main), budget_);
  int64_t of_other_batches = programs_.small_constant_bytes(main);
  const auto add = [&](const ProgramKey& key) {
    if (programs_.find(key) != nullptr) return;
    ir::Graph graph = programs_.graph_of(key);
    Budget beside = budget_beside(graph);
    beside.memo = memo_of(key);
    programs_.compile(key, std::move(graph), beside);
    of_other_batches += programs_.small_constant_bytes(key);
    const bool is_kept = counted_bytes(programs_.find(key)->arena.plan) <= beside.bytes;
    if (!wanted_.for_file || bytes == 0 || is_kept) return;
    // Values of fewer samples may otherwise be too small to be swapped.
    beside.smallest_swapped_bytes = kLeastSwapped;
    programs_.compile(key, programs_.graph_of(key), beside);
  };
  for (const ProgramKey& key : programs_.other_keys()) add(key);
  // A plan must know how much evaluation takes. A training without a budget need not hold its
  // program before the first evaluation.
  const ProgramKey evaluation = programs_.evaluation_key();
  add(evaluation);
  // The last batch of a training is smaller; that of a validation may have yet another size.
  of_other_batches += programs_.small_constant_bytes(evaluation);
  most_constants_ = programs_.constant_bytes() + (wanted_.for_file ? 0 : of_other_batches);
  tables_bytes_ = wanted_.for_file ? programs_.tables_bytes() : 0;
  if (bytes == 0 && !wanted_.for_file) programs_.drop_if_covered(evaluation, main);
}

std::shared_ptr<Memo> TrainingPlanner::memo_of(const ProgramKey& key) {
  if (memos_ == nullptr) return nullptr;
  std::shared_ptr<Memo>& memo = (*memos_)[key];
  if (!memo) memo = std::make_shared<Memo>();
  return memo;
}

void TrainingPlanner::drop_memos() {
  own_memos_.clear();
  budget_.memo.reset();
}

Budget TrainingPlanner::budget_beside(const ir::Graph& graph) const {
  const Fitted& main = update();
  Budget budget = budget_;
  budget.explain = false;
  // One for all plans of an added program: what it takes to find variants is large.
  budget.memo = budget.bytes > 0 ? std::make_shared<Memo>() : nullptr;
  budget.in_file = main.in_file;
  if (swap_ == Swap::never) budget.swap = swap_;
  // All programs use one swap file.
  const int64_t staging = main.arena.plan.staging_bytes;
  if (staging > 0) {
    budget.least_staging_bytes = staging;
    budget.device = std::make_shared<KnownSwapDevice>(device_->rates_with(staging));
  }
  if (budget.bytes > 0) {
    // Parameters that nothing reads have no memory.
    const int64_t own = resident_bytes(passes::remove_dead_code(graph), main.in_file);
    budget.bytes -= resident_bytes(main.graph, main.in_file) - own;
    budget.bytes = std::max<int64_t>(budget.bytes, 1);
  }
  return budget;
}

void TrainingPlanner::fit_added(const ProgramKey& key, Budget budget, const std::string& work) {
  const auto missing = [&] { return wanted_.bytes > 0 ? needed_bytes() - wanted_.bytes : 0; };
  const auto compile_within = [&](int64_t bytes) {
    budget.bytes = std::max<int64_t>(bytes, 1);
    programs_.compile(key, programs_.graph_of(key), budget);
  };
  const auto reduce = [&] {
    // Its constants are known now and reduce the budget of its arena.
    if (missing() > 0) compile_within(budget.bytes - missing());
    // Values of fewer samples may otherwise be too small to be swapped.
    budget.smallest_swapped_bytes = kLeastSwapped;
    if (missing() > 0) compile_within(budget.bytes);
    if (missing() > 0) compile_within(1);
  };
  const int64_t given = budget.bytes;
  reduce();
  if (!check_swap_file(programs_.missing_file_bytes())) {
    budget.swap = swap_;
    compile_within(given);
    reduce();
  }
  require_room(key, work);
}

int64_t TrainingPlanner::micro_batches() const {
  const int64_t size = programs_.micro_batch_size();
  return (wanted_.batch + size - 1) / size;
}

int64_t TrainingPlanner::reserved_bytes() const {
  return std::max<int64_t>(most_constants_ - programs_.constant_bytes(), 0) + wanted_.sums_bytes +
         tables_bytes_;
}

int64_t TrainingPlanner::needed_bytes() const {
  return programs_.plan(programs_.update_key()).planned_peak_bytes +
         programs_.input_pipeline_bytes() + reserved_bytes();
}

void TrainingPlanner::require_room(const ProgramKey& key, const std::string& work) const {
  const int64_t needed = needed_bytes();
  if (wanted_.bytes <= 0 || needed <= wanted_.bytes) return;
  // With more memory other parameters may lie in the file and staging is larger; the budget has
  // room for both.
  const Plan main = programs_.plan(programs_.update_key());
  const int64_t more_staging =
      main.staging_bytes == 0 ? 0 : device_->most_staging_bytes() - main.staging_bytes;
  const int64_t enough = needed + main.in_file_bytes + more_staging;
  throw Error("memory budget",
              fmt::format("{} with batches of {} needs {} at least, with all that training holds; "
                          "the budget is {}; {}. The trainer stays as it was. Nearest "
                          "budget that works: {} bytes, or take a smaller batch",
                          work, key.batch, format_bytes(needed), format_bytes(wanted_.bytes),
                          binding_text(programs_.find(key)->arena.plan), enough));
}

void TrainingPlanner::require_budget() const {
  const Plan plan = this->plan();
  if (!plan.fits) refuse_budget(plan);
}

void refuse_budget(const Plan& plan) {
  throw Error(
      "memory budget",
      fmt::format("training with batch {} needs {} at least, {} of it for reading samples; the "
                  "budget is {}; {}. {}Nearest budget that works: {} bytes, or {}",
                  plan.batch, format_bytes(plan.nearest_feasible_bytes),
                  format_bytes(plan.input_pipeline_bytes), format_bytes(plan.budget_bytes),
                  binding_text(plan), no_swap_text(plan), plan.nearest_feasible_bytes,
                  smaller_ways(plan)));
}

bool TrainingPlanner::check_swap_file(int64_t bytes) {
  if (swap_ == Swap::never) return true;
  if (no_swap_.empty()) no_swap_ = device_->why_not(bytes);
  if (no_swap_.empty()) return true;
  if (wanted_.requires_swap) throw Error("swap file", no_swap_);
  swap_ = Swap::never;
  return false;
}

void TrainingPlanner::allocate() {
  take_memory();
  if (swaps()) compile_by_measured_times();
}

void TrainingPlanner::compile_by_measured_times() {
  const Budget first_budget = budget_;
  if (wanted_.for_file) least_tables_ = tables_bytes_ + most_constants_;
  // The smallest plan does not ask for rates.
  const SwapRates first_rates = device_->known();
  Rehearsed first = rehearse();
  auto times = std::make_shared<NodeTimes>(*first_budget.times);
  SwapRates rates = first_rates;
  learn(first.took, update(), *times, rates);
  first.took.node_ms = std::vector<double>();
  budget_.times = std::move(times);
  device_->set(rates);
  programs_.clear();
  compile();
  // The smallest plan depends on the times. The budget may be that of the first one.
  if (keeps_budget()) {
    take_memory();
    if (!swaps()) return;
    Rehearsed second = rehearse();
    second.took.node_ms = std::vector<double>();
    if (second.took.step_ms <= kMostSlowdown * first.took.step_ms) {
      rehearsed_ = std::move(second);
      return;
    }
  }
  budget_.times = first_budget.times;
  device_->set(first_rates);
  compile(first_budget.bytes, first_budget.swap);
  take_memory();
  if (swaps()) rehearsed_ = std::move(first);
}

void TrainingPlanner::take_memory() {
  require_budget();
  drop_memos();
  try {
    programs_.allocate();
  } catch (const Error& error) {
    if (error.where() != "swap file" || wanted_.requires_swap) throw;
    no_swap_ = error.message();
    swap_ = Swap::never;
    compile();
    require_budget();
    drop_memos();
    programs_.allocate();
  }
}

TrainingPlanner::Rehearsed TrainingPlanner::rehearse() {
  Rehearsal took = programs_.rehearse();
  const Fitted& step = update();
  const SwapRates rates = device_->rates_with(step.arena.plan.staging_bytes);
  const StallCurve curve(step.graph, rates.costs(took.node_ms),
                         {took.step_ms - took.stall_ms, took.busy_ms, took.stall_ms});
  return {std::move(took), curve};
}

double TrainingPlanner::expected_stall_ms(double computing_ms, double busy_ms) const {
  return rehearsed_ ? rehearsed_->curve.stall_ms(computing_ms, busy_ms) : 0.0;
}

Plan TrainingPlanner::plan() const {
  Plan plan = programs_.plan(programs_.update_key());
  if (rehearsed_) predict_as_rehearsed(plan, rehearsed_->took);
  plan.saved_state_bytes = programs_.saved_state_bytes();
  plan.micro_batches = micro_batches();
  if (plan.micro_batches > 1) scale_to_step(plan);
  add_requested(plan);
  add_programs_beside(plan);
  plan.batch = wanted_.batch;
  plan.budget_bytes = wanted_.bytes;
  plan.input_pipeline_bytes = programs_.input_pipeline_bytes();
  plan.reserved_bytes = reserved_bytes();
  plan.no_swap = no_swap_;
  plan.fits = plan.budget_bytes <= 0 || keeps_budget();
  if (!plan.fits) plan.nearest_feasible_bytes = needed_bytes();
  return plan;
}

void TrainingPlanner::add_requested(Plan& plan) const {
  if (plan.strategies.empty()) return;
  std::vector<PlanStrategy> rows;
  int64_t left = plan.strategies.front().left_bytes;
  for (RequestedStrategy& each : programs_.requested_strategies()) {
    const int64_t before =
        unshared_bytes(passes::optimize(std::move(each.without)), {.threads = wanted_.threads});
    rows.push_back({.name = std::move(each.name),
                    .detail = std::move(each.detail),
                    .saved_bytes = before - left,
                    .left_bytes = left,
                    .lossless = each.lossless});
    left = before;
  }
  plan.strategies.front().left_bytes = left;
  plan.strategies.insert(plan.strategies.begin() + 1, rows.rbegin(), rows.rend());
}

}  // namespace thimble::plan
