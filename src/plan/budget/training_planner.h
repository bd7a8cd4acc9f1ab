// Plans the programs of a training within one memory budget.
#pragma once

#include <thimble/plan.h>
#include <thimble/swap.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "plan/budget/rehearsal.h"
#include "plan/budget/search.h"
#include "plan/budget/training_programs.h"
#include "plan/swap/stall_curve.h"

namespace thimble::plan {

struct TrainingBudget {
  int64_t bytes = 0;  // limit for all that training holds; 0: none
  Swap swap = Swap::never;
  bool requires_swap = false;  // a missing swap file is an error
  int64_t batch = 1;           // samples of a step
  int64_t micro_batches = 1;   // of a step; 0: as many as the budget needs
  ActivationStorage saved;     // see Budget
  int64_t sums_bytes = 0;      // of metrics, beside the plan
  bool for_file = false;       // all programs are known, and their tables count
  int threads = 1;
};

// Chooses the number of micro-batches, whether a swap file is used, and the budgets of all
// programs, and compiles them. Thread safety: none.
class TrainingPlanner {
 public:
  // For each program, what plans for different budgets share.
  using Memos = std::map<ProgramKey, std::shared_ptr<Memo>>;

  // memos: kept between plans of the same graphs with different budgets; must outlive the planner.
  // Null: kept only as long as one budget needs it.
  TrainingPlanner(TrainingPrograms& programs, std::shared_ptr<MeasuredSwapDevice> device,
                  const TrainingBudget& wanted, Memos* memos);

  // Compiles the programs for full batches. Takes no memory for them.
  void compile_programs();
  // Takes the memory, without a swap file if it cannot be had after all. Rehearses a step that
  // swaps, and compiles all programs with the measured times, unless that plan takes longer. Throws
  // Error if no plan keeps the budget.
  void allocate();

  // The plan of a training step, including everything beside it.
  [[nodiscard]] Plan plan() const;
  // The predicted wait in milliseconds of an updating step of which kernels took computing_ms while
  // the swap file was busy for busy_ms. 0 if the step was not rehearsed.
  [[nodiscard]] double expected_stall_ms(double computing_ms, double busy_ms) const;

  // The budget of a program beside the updating one.
  [[nodiscard]] Budget budget_beside(const ir::Graph& graph) const;
  // Compiles a program that was added later and compiled within this budget until all programs keep
  // the budget of the training. work: "predicting", for the Error that it cannot be kept.
  void fit_added(const ProgramKey& key, Budget budget, const std::string& work);

 private:
  struct Rehearsed {
    Rehearsal took;  // without node times once they were learned from
    StallCurve curve;
  };
  // Chooses the number of micro-batches that keeps the budget in the least time, predicted by
  // nominal rates.
  void choose_micro_batches();
  void compile();
  // Compiles the programs within the budget, or as small as possible.
  void compile_within_budget(Swap swap);
  // Compiles the programs within this many bytes; 0: no limit.
  void compile(int64_t bytes, Swap swap);
  // Rehearses a step that swaps, and compiles with its times.
  void compile_by_measured_times();
  [[nodiscard]] Rehearsed rehearse();
  // Takes the memory of the compiled programs.
  void take_memory();
  // Whether a swap file of this size is possible. If not, there is no swap from here on. Throws
  // Error if swap is required.
  bool check_swap_file(int64_t bytes);
  [[nodiscard]] std::shared_ptr<Memo> memo_of(const ProgramKey& key);
  // Frees what plans share, before memory is taken.
  void drop_memos();

  [[nodiscard]] const Fitted& update() const { return *programs_.find(programs_.update_key()); }
  [[nodiscard]] bool swaps() const { return !update().slot_bytes.empty(); }
  [[nodiscard]] int64_t micro_batches() const;
  // Bytes still reserved for constants of smaller batches, sums of metrics and tables of programs.
  [[nodiscard]] int64_t reserved_bytes() const;
  // Bytes of all programs, including reserves.
  [[nodiscard]] int64_t needed_bytes() const;
  [[nodiscard]] bool keeps_budget() const { return needed_bytes() <= wanted_.bytes; }
  // Throws Error if an added program does not keep the budget.
  void require_room(const ProgramKey& key, const std::string& work) const;
  void require_budget() const;
  // Adds rows for strategies that the user set, before the planner's rows. Each row shows what the
  // step would take more without the strategy, with own memory for all values.
  void add_requested(Plan& plan) const;

  TrainingPrograms& programs_;
  std::shared_ptr<MeasuredSwapDevice> device_;
  TrainingBudget wanted_;
  Budget budget_;                        // of the updating program
  int64_t most_constants_ = 0;           // bytes of constants, including those of smaller batches
  int64_t tables_bytes_ = 0;             // of the compiled programs
  std::optional<int64_t> least_tables_;  // with constants, of the programs without a budget
  Memos own_memos_;
  Memos* memos_;                        // null: none are kept
  std::optional<Rehearsed> rehearsed_;  // rehearsal of the present plan
  bool by_nominal_rates_ = false;       // makes plans the same on every machine
  Swap swap_;                           // the wanted mode, if a swap file is possible
  std::string no_swap_;                 // why a swap file is not possible
};

// Throws the Error that a plan does not keep its budget, naming the nearest one that works and what
// is alive at the peak.
[[noreturn]] void refuse_budget(const Plan& plan);

}  // namespace thimble::plan
