// The planner of a training over programs, a disk and a clock that are none.
#include "plan/budget/training_planner.h"

#include <gmock/gmock.h>
#include <thimble/error.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/error_of.h"
#include "models/nearest_budget.h"

namespace thimble::plan::training_planner_test {
namespace {

using ::testing::HasSubstr;

constexpr int kUpdate = 0;
constexpr int kEvaluate = 1;
constexpr int kPredict = 2;

constexpr int64_t kStaging = 8;

// A step takes from its least to its most bytes for each sample, and less time in more of them.
// Other programs take a quarter.
struct Model {
  int64_t least = 100;  // bytes of a sample
  int64_t most = 400;
  int64_t swapped = 60;        // the least by swap alone
  int64_t swapped_mixed = 50;  // and by recomputation, too
  int64_t batch = 8;
  int64_t most_micro_batches = 1;
  int64_t tables = 0;       // of a program
  int64_t more_tables = 0;  // of one that recomputes and swaps
};

class FakePrograms final : public TrainingPrograms {
 public:
  explicit FakePrograms(const Model& model) : model_(model), micro_batch_(model.batch) {}

  void set_micro_batches(int64_t count) override { micro_batch_ = model_.batch / count; }
  [[nodiscard]] std::string why_not_micro_batches_of(int64_t count) const override {
    return count <= model_.most_micro_batches ? "" : "the model has a batch norm";
  }
  [[nodiscard]] int64_t micro_batch_size() const override { return micro_batch_; }
  [[nodiscard]] ProgramKey update_key() const override { return {kUpdate, micro_batch_}; }
  [[nodiscard]] ProgramKey evaluation_key() const override { return {kEvaluate, micro_batch_}; }
  [[nodiscard]] std::vector<ProgramKey> other_keys() const override { return others; }
  [[nodiscard]] ir::Graph graph_of(const ProgramKey& /*key*/) const override { return {}; }
  void compile(const ProgramKey& key, ir::Graph /*graph*/, const Budget& budget) override {
    budgets.push_back(budget);
    const int64_t part = key.kind == kUpdate ? 1 : 4;
    const int64_t most = model_.most * key.batch / part;
    const int64_t wanted = budget.bytes > 0 ? budget.bytes : most;
    const bool swaps =
        budget.swap != Swap::never && key.kind == kUpdate && wanted < model_.least * key.batch;
    const bool is_mixed = swaps && budget.swap == Swap::automatic;
    const int64_t least = is_mixed ? model_.swapped_mixed : swaps ? model_.swapped : model_.least;
    Fitted& made = programs_[key];
    made = {};
    Plan& plan = made.arena.plan;
    plan.staging_bytes = swaps ? kStaging : 0;
    plan.arena_bytes = std::clamp(wanted - plan.staging_bytes, least * key.batch / part, most);
    plan.planned_peak_bytes = plan.arena_bytes + plan.staging_bytes;
    plan.step_ms = static_cast<double>(most) / static_cast<double>(plan.arena_bytes);
    plan.swap_file_bytes = swaps ? most : 0;
    if (swaps) made.slot_bytes = {most};
    tables_[key] = model_.tables + (is_mixed ? model_.more_tables : 0);
  }
  void drop_if_covered(const ProgramKey& key, const ProgramKey& /*by*/) override {
    programs_.erase(key);
  }
  void clear() override { programs_.clear(); }
  [[nodiscard]] const Fitted* find(const ProgramKey& key) const override {
    const auto found = programs_.find(key);
    return found == programs_.end() ? nullptr : &found->second;
  }
  // They share one arena.
  [[nodiscard]] Plan plan(const ProgramKey& key) const override {
    Plan plan = programs_.at(key).arena.plan;
    for (const auto& [other, step] : programs_) {
      plan.arena_bytes = std::max(plan.arena_bytes, step.arena.plan.arena_bytes);
      plan.staging_bytes = std::max(plan.staging_bytes, step.arena.plan.staging_bytes);
    }
    plan.planned_peak_bytes = plan.arena_bytes + plan.staging_bytes;
    return plan;
  }
  [[nodiscard]] int64_t constant_bytes() const override { return 0; }
  [[nodiscard]] int64_t small_constant_bytes(const ProgramKey& /*key*/) const override { return 0; }
  [[nodiscard]] int64_t missing_file_bytes() const override {
    return programs_.at(update_key()).arena.plan.swap_file_bytes;
  }
  [[nodiscard]] int64_t tables_bytes() const override {
    int64_t bytes = 0;
    for (const auto& [key, step] : programs_) bytes += tables_.at(key);
    return bytes;
  }
  [[nodiscard]] int64_t input_pipeline_bytes() const override { return 10; }
  [[nodiscard]] int64_t saved_state_bytes() const override { return 0; }
  [[nodiscard]] std::vector<RequestedStrategy> requested_strategies() const override { return {}; }
  [[nodiscard]] NodeTimes rates() override { return NodeTimes(); }
  void allocate() override {
    const bool needs_file = !programs_.at(update_key()).slot_bytes.empty();
    if (needs_file && !disk_error.empty()) throw Error("swap file", disk_error);
    ++allocations;
  }
  [[nodiscard]] Rehearsal rehearse() override {
    return {.step_ms = rehearsed_ms.at(rehearsals++), .busy_ms = 1.0, .stall_ms = 0.5};
  }

  std::vector<ProgramKey> others;
  std::string disk_error;
  std::vector<double> rehearsed_ms = {1.0, 1.0};
  size_t rehearsals = 0;
  int allocations = 0;
  std::vector<Budget> budgets;  // of all that was compiled

 private:
  Model model_;
  int64_t micro_batch_;
  std::map<ProgramKey, Fitted> programs_;
  std::map<ProgramKey, int64_t> tables_;
};

class FakeDisk final : public MeasuredSwapDevice {
 public:
  explicit FakeDisk(std::string why_not = {}) : why_not_(std::move(why_not)) {}
  [[nodiscard]] SwapRates rates() override { return rates_; }
  void set_budget(int64_t /*bytes*/, bool is_nominal) override { was_nominal |= is_nominal; }
  [[nodiscard]] SwapRates rates_with(int64_t /*staging*/) const override { return rates_; }
  [[nodiscard]] SwapRates known() const override { return rates_; }
  void set(const SwapRates& rates) override { rates_ = rates; }
  [[nodiscard]] int64_t least_staging_bytes() const override { return kStaging; }
  [[nodiscard]] int64_t most_staging_bytes() const override { return 64; }
  [[nodiscard]] std::string why_not(int64_t /*bytes*/) const override { return why_not_; }

  bool was_nominal = false;

 private:
  std::string why_not_;
  SwapRates rates_{
      .staging_bytes = 64, .least_staging_bytes = kStaging, .staging_step_bytes = kStaging};
};

struct Planned {
  Plan plan;
  int64_t micro_batch = 0;
};

Planned planned(const Model& model, TrainingBudget wanted,
                const std::vector<ProgramKey>& others = {}) {
  wanted.batch = model.batch;
  FakePrograms programs(model);
  programs.others = others;
  TrainingPlanner planner(programs, std::make_shared<FakeDisk>(), wanted, nullptr);
  planner.compile_programs();
  return {planner.plan(), programs.micro_batch_size()};
}

TEST(training_planner, fills_a_budget_and_names_the_least_that_works_where_it_cannot) {
  const Model model;
  EXPECT_EQ(planned(model, {}).plan.planned_peak_bytes, model.most * model.batch);
  const Plan kept = planned(model, {.bytes = 2000}).plan;
  EXPECT_TRUE(kept.fits);
  EXPECT_EQ(kept.planned_peak_bytes, 1990);  // beside the reading of samples
  const Plan refused = planned(model, {.bytes = 300}).plan;
  EXPECT_FALSE(refused.fits);
  EXPECT_EQ(refused.nearest_feasible_bytes, model.least * model.batch + 10);
  EXPECT_TRUE(planned(model, {.bytes = refused.nearest_feasible_bytes}).plan.fits);
}

TEST(training_planner, counts_sums_of_metrics) {
  const Plan kept = planned({}, {.bytes = 2000, .sums_bytes = 500}).plan;
  EXPECT_TRUE(kept.fits);
  EXPECT_EQ(kept.planned_peak_bytes, 1490);
  EXPECT_EQ(kept.reserved_bytes, 500);
}

// The tables of a step are longer in less memory, and those of smaller batches count, too.
TEST(training_planner, counts_the_tables_of_every_program_of_a_file_as_they_are) {
  // What swap alone takes more than with recomputation, its shorter tables save.
  const Model model{.tables = 20, .more_tables = 300};
  const std::vector<ProgramKey> others{{kUpdate, 3}, {kPredict, 8}, {kPredict, 3}};
  const auto plan = [&](int64_t bytes, Swap swap) {
    return planned(model, {.bytes = bytes, .swap = swap, .for_file = true}, others).plan;
  };
  for (const Swap swap : {Swap::never, Swap::automatic, Swap::always}) {
    const Plan refused = plan(1, swap);
    EXPECT_FALSE(refused.fits);
    int64_t fitting = 0;
    for (int64_t bytes = refused.nearest_feasible_bytes; bytes < 5000; bytes += 50) {
      const Plan kept = plan(bytes, swap);
      ASSERT_TRUE(kept.fits) << bytes;
      EXPECT_LE(kept.planned_peak_bytes + 10 + kept.reserved_bytes, bytes);
      EXPECT_GE(kept.reserved_bytes, 5 * model.tables);
      ++fitting;
    }
    EXPECT_GT(fitting, 10);
  }
  EXPECT_EQ(plan(1, Swap::automatic).nearest_feasible_bytes,
            plan(1, Swap::always).nearest_feasible_bytes);
  EXPECT_LT(plan(1, Swap::always).nearest_feasible_bytes,
            plan(1, Swap::never).nearest_feasible_bytes);
  EXPECT_EQ(planned(model, {.bytes = 3000}).plan.reserved_bytes, 0);  // of no file
}

TEST(training_planner, takes_as_few_micro_batches_as_the_budget_allows) {
  const Model model{.most_micro_batches = 8};
  EXPECT_EQ(planned(model, {.bytes = 3500, .micro_batches = 0}).micro_batch, 8);
  EXPECT_EQ(planned(model, {.bytes = 300, .micro_batches = 0}).micro_batch, 2);
  const Planned refused = planned(model, {.bytes = 50, .micro_batches = 0});
  EXPECT_EQ(refused.micro_batch, 1);
  EXPECT_EQ(refused.plan.nearest_feasible_bytes, model.least + 10);
}

// Two micro-batches take less memory, but tables of more programs.
TEST(training_planner, counts_tables_of_each_number_of_micro_batches) {
  const Model model{.most_micro_batches = 2, .tables = 400, .more_tables = 800};
  const auto plan = [&](int64_t bytes) {
    return planned(model, {.bytes = bytes, .micro_batches = 0, .for_file = true});
  };
  const Planned refused = plan(1);
  EXPECT_TRUE(plan(refused.plan.nearest_feasible_bytes).plan.fits);
  const Planned kept = plan(3200 + 10 + 2 * 400);
  EXPECT_TRUE(kept.plan.fits);
  EXPECT_EQ(kept.micro_batch, 8);
  EXPECT_EQ(kept.plan.reserved_bytes, 800);
}

TEST(training_planner, chooses_micro_batches_by_nominal_rates) {
  const auto is_nominal = [](int64_t micro_batches) {
    FakePrograms programs({.most_micro_batches = 8});
    const auto disk = std::make_shared<FakeDisk>();
    TrainingPlanner planner(programs, disk,
                            {.bytes = 300, .batch = 8, .micro_batches = micro_batches}, nullptr);
    planner.compile_programs();
    return disk->was_nominal;
  };
  EXPECT_TRUE(is_nominal(0));
  EXPECT_FALSE(is_nominal(4));
}

TEST(training_planner, does_without_a_swap_file_that_the_disk_cannot_hold) {
  const Model model;
  FakePrograms programs(model);
  const auto disk = std::make_shared<FakeDisk>("the disk is full");
  TrainingPlanner planner(programs, disk, {.bytes = 700, .swap = Swap::automatic, .batch = 8},
                          nullptr);
  planner.compile_programs();
  const Plan plan = planner.plan();
  EXPECT_FALSE(plan.fits);
  EXPECT_EQ(plan.no_swap, "the disk is full");
  EXPECT_EQ(plan.nearest_feasible_bytes, model.least * model.batch + 10);
  EXPECT_THAT(test::error_of([&] { planner.allocate(); }),
              testing::AllOf(HasSubstr("No swap file: the disk is full"),
                             HasSubstr("Nearest budget that works: 810 bytes")));
  EXPECT_EQ(programs.allocations, 0);
  TrainingPlanner required(programs, disk,
                           {.bytes = 700, .swap = Swap::always, .requires_swap = true, .batch = 8},
                           nullptr);
  EXPECT_EQ(test::error_of([&] { required.compile_programs(); }), "[swap file] the disk is full");
}

// Only then is the disk known to have no room: as it is written.
TEST(training_planner, plans_again_where_the_swap_file_cannot_be_made) {
  FakePrograms programs({.batch = 8});
  programs.disk_error = "no space left";
  TrainingPlanner planner(programs, std::make_shared<FakeDisk>(),
                          {.bytes = 700, .swap = Swap::automatic, .batch = 8}, nullptr);
  planner.compile_programs();
  EXPECT_TRUE(planner.plan().fits);
  EXPECT_THAT(test::error_of([&] { planner.allocate(); }),
              HasSubstr("No swap file: no space left"));
}

TEST(training_planner, keeps_the_first_plan_where_that_by_measured_times_is_slower) {
  const auto step_ms = [](std::vector<double> rehearsed) {
    FakePrograms programs({.batch = 8});
    programs.rehearsed_ms = std::move(rehearsed);
    TrainingPlanner planner(programs, std::make_shared<FakeDisk>(),
                            {.bytes = 700, .swap = Swap::always, .batch = 8}, nullptr);
    planner.compile_programs();
    planner.allocate();
    EXPECT_EQ(programs.rehearsals, 2U);
    EXPECT_GT(planner.expected_stall_ms(1.0, 1.0), 0.0);
    return planner.plan().step_ms;
  };
  EXPECT_EQ(step_ms({2.0, 1.0}), 1.0);
  EXPECT_EQ(step_ms({2.0, 2.1}), 2.1);
  EXPECT_EQ(step_ms({2.0, 9.0}), 2.0);
}

TEST(training_planner, fits_added_programs_into_what_is_left_or_refuses_them) {
  FakePrograms programs({.batch = 8});
  TrainingPlanner planner(programs, std::make_shared<FakeDisk>(), {.bytes = 1000, .batch = 8},
                          nullptr);
  planner.compile_programs();
  const Budget beside = planner.budget_beside({});
  EXPECT_EQ(beside.bytes, 990);
  const auto add = [&](int64_t samples) {
    const ProgramKey key{kPredict, samples};
    programs.compile(key, {}, beside);
    return test::error_of([&] { planner.fit_added(key, beside, "predicting"); });
  };
  EXPECT_EQ(add(4), test::kNoError);
  EXPECT_THAT(add(60), HasSubstr("predicting with batches of 60 needs"));
  EXPECT_EQ(test::named_budget(add(60)), 60 * 25 + 10);
}

// What plans of a program found serves all its plans for one budget, and no other program's.
TEST(training_planner, gives_each_program_a_memory_of_what_searches_found) {
  TrainingPlanner::Memos memos;
  FakePrograms programs({.batch = 8});
  TrainingPlanner planner(programs, std::make_shared<FakeDisk>(), {.bytes = 1, .batch = 8}, &memos);
  planner.compile_programs();
  EXPECT_EQ(memos.size(), 2U);
  ASSERT_GE(programs.budgets.size(), 2U);
  EXPECT_EQ(programs.budgets[0].memo, memos.at({kUpdate, 8}));
  EXPECT_EQ(programs.budgets[1].memo, memos.at({kEvaluate, 8}));
}

}  // namespace
}  // namespace thimble::plan::training_planner_test
