// The interfaces through which the planner of a training reaches programs, memory and disk.
#pragma once

#include <thimble/plan.h>

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/budget/rehearsal.h"
#include "plan/budget/search.h"
#include "plan/node_times.h"
#include "plan/swap/rates.h"

namespace thimble::plan {

// What tells the programs of a training apart.
struct ProgramKey {
  int kind = 0;       // by the training's own numbers
  int64_t batch = 0;  // samples
  friend auto operator<=>(const ProgramKey&, const ProgramKey&) = default;
};

// A strategy that the user set, not the planner: a row of the plan.
struct RequestedStrategy {
  std::string name;
  std::string detail;
  bool lossless = true;
  ir::Graph without;  // the step without this strategy and those before it in the list
};

// The disk of the swap file. The planner corrects its rates by rehearsals.
class MeasuredSwapDevice : public SwapDevice {
 public:
  // The budget in bytes, which limits staging buffers and measuring. is_nominal: nothing is
  // measured.
  virtual void set_budget(int64_t bytes, bool is_nominal) = 0;
  // Rates of a file with that many bytes of staging buffers, as far as known.
  [[nodiscard]] virtual SwapRates rates_with(int64_t staging) const = 0;
  // Rates without the part that depends on staging buffers.
  [[nodiscard]] virtual SwapRates known() const = 0;
  virtual void set(const SwapRates& rates) = 0;
  // Bytes of the smallest and of the largest staging buffers.
  [[nodiscard]] virtual int64_t least_staging_bytes() const = 0;
  [[nodiscard]] virtual int64_t most_staging_bytes() const = 0;
  // Why a file of this size is not possible, or why measuring failed; empty: the file is possible.
  [[nodiscard]] virtual std::string why_not(int64_t bytes) const = 0;
};

// The programs of a training. They share one arena, one store and one swap file, so the values of
// only one step exist at a time.
class TrainingPrograms {
 public:
  TrainingPrograms() = default;
  virtual ~TrainingPrograms() = default;
  TrainingPrograms(const TrainingPrograms&) = delete;
  TrainingPrograms& operator=(const TrainingPrograms&) = delete;

  // Sets the number of micro-batches of a step. Throws Error if the model does not allow it.
  virtual void set_micro_batches(int64_t count) = 0;
  // Why the model does not allow this many; empty: it does.
  [[nodiscard]] virtual std::string why_not_micro_batches_of(int64_t count) const = 0;
  // Samples of a micro-batch.
  [[nodiscard]] virtual int64_t micro_batch_size() const = 0;

  // The program that updates the parameters; evaluation; all others that are planned with the two.
  [[nodiscard]] virtual ProgramKey update_key() const = 0;
  [[nodiscard]] virtual ProgramKey evaluation_key() const = 0;
  [[nodiscard]] virtual std::vector<ProgramKey> other_keys() const = 0;

  // The step of a program. Those beside the updating program may need that one to be compiled.
  [[nodiscard]] virtual ir::Graph graph_of(const ProgramKey& key) const = 0;
  // Compiles a program within a budget, in place of one that was there.
  virtual void compile(const ProgramKey& key, ir::Graph graph, const Budget& budget) = 0;
  // Drops a program that needs no memory beside another one.
  virtual void drop_if_covered(const ProgramKey& key, const ProgramKey& by) = 0;
  // Frees all programs and their memory.
  virtual void clear() = 0;
  // The compiled step of a program; null: there is none.
  [[nodiscard]] virtual const Fitted* find(const ProgramKey& key) const = 0;

  // The plan of a program, with the constants and the arena of all programs.
  [[nodiscard]] virtual Plan plan(const ProgramKey& key) const = 0;
  // Bytes of the constants of all programs.
  [[nodiscard]] virtual int64_t constant_bytes() const = 0;
  // Bytes of a program's constants that may differ with the batch.
  [[nodiscard]] virtual int64_t small_constant_bytes(const ProgramKey& key) const = 0;
  // Bytes of the swap file that the programs need, if the present file is too small; else 0.
  [[nodiscard]] virtual int64_t missing_file_bytes() const = 0;
  // Bytes that a trainer takes beside the plan to hold the programs, if they are read from a file.
  [[nodiscard]] virtual int64_t tables_bytes() const = 0;
  // Bytes that reading samples takes.
  [[nodiscard]] virtual int64_t input_pipeline_bytes() const = 0;
  // Bytes that optimizer state of less than 32 bits saves.
  [[nodiscard]] virtual int64_t saved_state_bytes() const = 0;
  // The last row of the plan first.
  [[nodiscard]] virtual std::vector<RequestedStrategy> requested_strategies() const = 0;

  // Times of nodes at this machine's rates.
  [[nodiscard]] virtual NodeTimes rates() = 0;
  // Takes the memory of all programs, with a swap file if they need one. Throws Error, at "swap
  // file" if that cannot be had.
  virtual void allocate() = 0;
  // Runs the updating program. Parameters and state hold anything afterwards.
  [[nodiscard]] virtual Rehearsal rehearse() = 0;
};

}  // namespace thimble::plan
