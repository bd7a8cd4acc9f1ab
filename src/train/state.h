// What a Trainer holds.
#pragma once

#include <thimble/trainer.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/accounting.h"
#include "exec/rehearsal.h"
#include "exec/swap_probe.h"
#include "ir/graph.h"
#include "plan/swap/stall_curve.h"
#include "train/batch_stream.h"
#include "train/feed.h"
#include "train/micro_batches.h"
#include "train/runner.h"

namespace thimble::train {

// Sums over samples, from which means are made.
struct Sums {
  double loss = 0.0;
  std::map<std::string, double> metrics;
  int64_t samples = 0;

  void add(const exec::Session& session, int64_t count);
  void add(const Sums& more);
  void clear();  // keeps its memory
  [[nodiscard]] Evaluation mean() const;
};

// Where training stands: all that a checkpoint must hold beside the store.
struct Progress {
  int64_t step = 0;     // steps done
  int64_t epoch = 0;    // the one that runs or comes next
  int64_t batch = 0;    // batches of it done
  Sums sums;            // of these batches
  double weight = 0.0;  // of the gradients accumulated since the last update
  double best_loss = std::numeric_limits<double>::infinity();
  int64_t epochs_without_gain = 0;
  ScheduleFeedback schedule;
};

// Kinds of programs.
enum class ProgramKind : int { update, accumulate, finish, evaluate, predict };

struct State {
  // Of each program what plans for several budgets have in common.
  using Memos = std::map<ProgramKey, std::shared_ptr<plan::Memo>>;

  // Compiles the programs for the full batch; takes no memory for them yet. memos: of the same
  // graph and options but for the budget, kept for more plans; must outlive the state. Null: only
  // what a budget needs itself is kept, and no longer than that.
  State(ir::Graph graph, const TrainerOptions& options, Memos* memos = nullptr);
  // Takes the memory and sets first values. Throws Error where the plan does not keep the budget.
  void allocate();

  // Of a training step, with all that lies beside it.
  [[nodiscard]] Plan plan() const;
  // How long the step that updates waits, by its plan, where it runs that long while the file is
  // as busy as it was; milliseconds. 0 where it was not rehearsed.
  [[nodiscard]] double expected_stall_ms(double ran_ms, const exec::SwapCounters& swapped) const;
  // Runs one training step on a batch. Throws Error where the loss is not finite.
  double step(const data::Batch& batch, Feed& feed);
  // The program for one kind and batch size, compiled at first use.
  Runnable& program(ProgramKind kind, int64_t batch);
  // Holds a stream that has nothing yet to what a budget leaves for it. Throws Error.
  void limit(BatchStream& stream) const;
  // Means of loss and metrics over one epoch. While training a loss that is not finite is an
  // error, else a result.
  Evaluation evaluate(BatchStream& stream, bool while_training = false);
  // Runs the forward part over one epoch; sink reads the outputs of each batch.
  void predict(BatchStream& stream,
               const std::function<void(const exec::Session&, int64_t count)>& sink);
  // Forgets the gradients that were summed up since the last update.
  void drop_gradients();
  // Lets the averages of weights, where there are any, start from the weights as they are.
  void start_averages();
  // The program that updates the parameters, for the full batch.
  [[nodiscard]] ProgramKey update_key() const;
  // Keep the programs that so many samples need from being compiled in the middle of them.
  void prepare_training(int64_t samples);
  void prepare(int64_t samples, ProgramKind kind);
  // Samples of a micro-batch; options.batch where a batch is computed whole.
  [[nodiscard]] int64_t part() const { return part_; }

  // Of all that is held: programs, parameters, and what training reads into.
  std::shared_ptr<exec::Account> account = std::make_shared<exec::Account>();
  ir::Graph model;
  TrainerOptions options;
  Schedule schedule;
  Runner runner;
  Progress progress;
  double learning_rate = 0.0;           // of the last step
  double momentum = 0.0;                // likewise, where it is scheduled
  exec::SwapCounters swapped_by_steps;  // for whoever trains to set back
  double ran_ms = 0.0;                  // of the steps' programs; likewise
  // How a step that swaps is rehearsed; tests put another in its place.
  std::function<exec::Rehearsal(exec::Session&, const exec::SwapFile&)> rehearse_with =
      exec::rehearse;

 private:
  struct Rehearsed {
    exec::Rehearsal took;  // without nodes once it was learned from
    plan::StallCurve curve;
  };
  double own_momentum = 0.0;  // the optimizer's
  // Computes batches in that number of parts which keeps the budget at the least time, predicted by
  // nominal rates.
  void choose_parts();
  // The plan of a part becomes that of a whole step.
  void add_parts(Plan& plan) const;
  // Says in a plan what micro-batches and lossy means save.
  void add_asked_for(Plan& plan) const;
  static void add_programs_beside(Plan& plan);
  // As why_not_micro_batches, of that many.
  [[nodiscard]] std::string why_not(int64_t parts) const;
  // Computes batches in that many parts. Throws Error where the model does not allow it.
  void split(int64_t parts);
  void compile();
  // Compiles them within the budget, or as small as they can be.
  void compile_within_budget(Swap swap);
  // Compiles them within so many bytes; 0: no limit.
  void compile(int64_t bytes, Swap swap);
  // What its plans have in common, until memory is taken.
  [[nodiscard]] std::shared_ptr<plan::Memo> memo_of(const ProgramKey& key);
  // What is left of the budget for a program beside the one that updates.
  [[nodiscard]] plan::Budget budget_beside(const ir::Graph& graph) const;
  // What is left of what is set aside for constants of smaller batches.
  [[nodiscard]] int64_t reserved_bytes() const;
  // Of all programs, with all that is set aside.
  [[nodiscard]] int64_t needed_bytes() const;
  [[nodiscard]] bool keeps_budget() const { return needed_bytes() <= options.memory_budget; }
  // Throws Error where a graph reads parameters or state that training does not hold.
  void require_values(const ir::Graph& graph) const;
  // Throws Error where a program that was added does not keep the budget.
  void require_room(ProgramKind kind, int64_t batch) const;
  // Finds out whether there may be a swap file of so many bytes; where not, does without from here
  // on and returns false. Throws Error where the user asked for it.
  bool settle_swap(int64_t bytes);
  // Rehearses the step where it swaps, and compiles all again by the times that it took, unless
  // what comes of that takes longer.
  void compile_by_measured_times();
  // Of the program that updates; parameters and state hold anything afterwards.
  [[nodiscard]] Rehearsed rehearse();
  // Compiles all again by other times, and takes the memory.
  void compile_anew(std::shared_ptr<const plan::NodeTimes> times, const plan::SwapRates& rates);
  // Takes the memory, without a swap file where that cannot be had after all. Throws Error where
  // the plan does not keep the budget.
  void seal();
  [[nodiscard]] bool swaps() const;
  void require_swap_file() const;
  // Plans are made: what they have in common is not to lie beside the memory that is taken now.
  void drop_memos();
  plan::Budget budget_;         // of the program that updates
  int64_t most_constants_ = 0;  // bytes, with those of a training's smaller batches
  Memos own_memos_;
  Memos* memos_;  // null: none are kept
  std::shared_ptr<exec::SwapProbe> disk_;
  std::optional<Rehearsed> rehearsed_;  // of the plan as it is now
  bool by_nominal_rates_ = false;       // plans are the same on every machine
  Swap swap_ = Swap::never;             // what is asked for, where there can be a file
  std::string no_swap_;                 // why there can be none
  int64_t part_ = 0;
  Sums step_sums_;
  std::vector<IgnoredLabel> ignored_labels_;  // where a batch is computed in parts
  // The forward part, with the averages of the weights where there are any.
  [[nodiscard]] ir::Graph inference(int64_t batch, bool with_loss) const;
  [[nodiscard]] ir::Graph graph_of(ProgramKind kind, int64_t batch) const;
  // Fills the session's sources for some samples of a batch. weight: of the gradients before them.
  void set_sources(const exec::Session& session, const data::Batch& batch, const Part& part,
                   Feed& feed, double weight) const;
  void evaluate_part(const data::Batch& batch, const Part& part, Feed& feed, bool while_training,
                     Sums& sums);
  // Whether gradients of several programs are summed up.
  [[nodiscard]] bool accumulates() const;
  // What a step does with a part: its last one or another.
  [[nodiscard]] ProgramKind step_kind(bool is_last) const;
  // Runs a training program on a part. Throws Error where its loss is not finite.
  void run_part(exec::Session& session, const data::Batch& batch, const Part& part, Feed& feed,
                double weight);
  // Throws Error where a batch is larger than the plan, or empty.
  void check_count(const data::Batch& batch) const;
};

}  // namespace thimble::train
