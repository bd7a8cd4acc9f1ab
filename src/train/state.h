// The state of a Trainer.
#pragma once

#include <thimble/trainer.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/accounting.h"
#include "exec/rehearsal.h"
#include "io/model/model.h"
#include "ir/graph.h"
#include "plan/budget/training_planner.h"
#include "train/batch_stream.h"
#include "train/epoch_metrics.h"
#include "train/feed.h"
#include "train/given_values.h"
#include "train/micro_batches.h"
#include "train/planned_programs.h"
#include "train/runner.h"
#include "train/training_program.h"

namespace thimble::train {

// Sums over samples, from which means are made.
struct Sums {
  double loss = 0.0;
  std::map<std::string, std::vector<double>> metrics;  // elements of each
  int64_t samples = 0;

  void add(const exec::Session& session, int64_t count);
  void add(const Sums& more);
  void clear();  // sets all to zero, keeps the memory
  [[nodiscard]] Evaluation mean(const Finishes& finishes) const;
};

// Sets the random numbers of a batch at inference. They depend only on the batch's number, so that
// a model gives one result. No training step has these numbers.
void set_inference_rng(const exec::Session& session, int64_t batch, const MicroBatch& micro_batch);

// The progress of a training: everything that a checkpoint holds beside the store.
struct Progress {
  int64_t step = 0;     // steps done
  int64_t epoch = 0;    // the running or next epoch
  int64_t batch = 0;    // batches of this epoch done
  Sums sums;            // sums over these batches
  double weight = 0.0;  // weight of the gradients accumulated since the last update
  double best_loss = std::numeric_limits<double>::infinity();
  int64_t epochs_without_gain = 0;
  ScheduleFeedback schedule;
};

// Kinds of programs.
enum class ProgramKind : int { update, accumulate, finish, evaluate, predict, gradients };
[[nodiscard]] inline ProgramKey key_of(ProgramKind kind, int64_t batch) {
  return {static_cast<int>(kind), batch};
}
// "training", for errors.
[[nodiscard]] const char* work_of(ProgramKind kind);

// A loss that is not finite while training.
class NotFinite : public Error {
 public:
  using Error::Error;
};

// Throws Error where a schedule watches a metric that the model does not have.
void check_metric(const ir::Graph& model, const std::string& metric);

using Rehearse = std::function<plan::Rehearsal(exec::Session&, const exec::SwapFile&)>;

struct State {
  // For each program, what plans for different budgets share.
  using Memos = plan::TrainingPlanner::Memos;

  // Compiles the programs for the full batch and takes no memory for them yet. memos: kept between
  // plans of the same graph and options with different budgets; must outlive the state. Null: kept
  // only as long as one budget needs it. file: compiles all programs that a program file for these
  // data has, whose tables then count in the budget; null: others may be added later.
  State(ir::Graph graph, const TrainerOptions& options, Memos* memos = nullptr,
        const CompileFor* file = nullptr);
  // Allocates the memory and sets initial values. Throws Error if the plan does not keep the
  // budget.
  void allocate();

  // From programs that were compiled elsewhere: nothing is compiled here.
  explicit State(TrainingProgram training);
  // The programs of a file, with the settings; without the values that a training begins with.
  [[nodiscard]] TrainingProgram programs() const;

  // The plan of a training step, including everything beside it.
  [[nodiscard]] Plan plan() const;
  // The wait in milliseconds that the plan gives for an updating step which ran for ran_ms, with
  // the file as busy as it was. 0 if the step was not rehearsed.
  [[nodiscard]] double expected_stall_ms(double ran_ms, const exec::SwapCounters& swapped) const;
  // Runs one training step on a batch; its loss. Throws Error where that is not finite.
  double step(const data::Batch& batch, Feed& feed);
  // Loss and metrics of the last step or gradients, summed over its samples.
  [[nodiscard]] const Sums& step_sums() const { return step_sums_; }
  // Computes the gradients that a step on a batch would, before penalties and limits; nothing of
  // the state changes. sink: called with the program of each micro-batch, whose outputs are
  // gradients by name, and the micro-batch's share of the samples. Throws Error where the loss is
  // not finite.
  void gradients(const data::Batch& batch, Feed& feed,
                 const std::function<void(const exec::Session&, double share)>& sink);
  // The program for one kind and batch size, compiled at first use.
  Runnable& program(ProgramKind kind, int64_t batch);
  // Limits a new stream to the memory that the budget leaves for it. Throws Error.
  void limit(BatchStream& stream) const;
  // Means of loss and metrics over one epoch. A loss that is not finite is an error while training,
  // else a result.
  Evaluation evaluate(BatchStream& stream, bool while_training = false);
  // Runs the forward part over one epoch; sink reads the outputs of each batch.
  void predict(BatchStream& stream,
               const std::function<void(const exec::Session&, int64_t count)>& sink);
  // With f16: the loss scale, 0 without, and the updates skipped so far.
  [[nodiscard]] double loss_scale() const;
  [[nodiscard]] int64_t skipped_updates() const;
  // Drops the gradients summed up since the last update.
  void drop_gradients();
  // Starts the averages of weights, if any, from the current weights.
  void start_averages();
  // The program that updates the parameters, for the full batch.
  [[nodiscard]] ProgramKey update_key() const;
  // Compile the programs for this many samples in advance, so that none is compiled in the middle.
  void prepare_training(int64_t samples);
  void prepare(int64_t samples, ProgramKind kind);
  // Of so many samples, those that there are programs for to train (evaluate): all, or, where
  // programs that were compiled elsewhere hold none for the last batch, those of full batches.
  [[nodiscard]] int64_t samples_with_programs(int64_t samples, bool training) const;
  // Throws Error where programs that were compiled elsewhere hold none for a last batch of so many
  // samples. Compiles nothing.
  void require_programs(int64_t samples, ProgramKind kind) const;
  // The kinds and sizes of these programs; some may stand there twice.
  [[nodiscard]] std::vector<std::pair<ProgramKind, int64_t>> training_programs(
      int64_t samples) const;
  [[nodiscard]] std::vector<std::pair<ProgramKind, int64_t>> forward_programs(
      int64_t samples, ProgramKind kind) const;
  // The graph as its author described it: what model files hold.
  [[nodiscard]] const ir::Graph& described() const { return original ? *original : model; }
  // Samples of a micro-batch; options.batch without micro-batches.
  [[nodiscard]] int64_t micro_batch_size() const { return micro_batch_size_; }

  // Counts all memory held: programs, parameters, and buffers for reading while training.
  std::shared_ptr<exec::Account> account = std::make_shared<exec::Account>();
  std::optional<ir::Graph>
      original;       // where the model below is another: mixed precision, finished metrics
  Finishes finishes;  // of the model's metrics
  ir::Graph model;    // of programs that were compiled elsewhere sources and results alone
  // Of programs of a file: the graph, for files that hold it.
  std::optional<io::ModelParts> model_parts;
  GivenValues given;  // of the model's parameters and states, until there is a store for them
  TrainerOptions options;
  Schedule schedule;
  Runner runner;
  std::vector<IndexCheck> indices;  // that ops of the model look up
  Progress progress;
  double learning_rate = 0.0;           // learning rate of the last step
  double momentum = 0.0;                // momentum of the last step, if it is scheduled
  exec::SwapCounters swapped_by_steps;  // callers reset it
  double ran_ms = 0.0;                  // total time of the steps' programs; callers reset it
  // Rehearses a step that swaps; tests replace it.
  Rehearse rehearse_with = exec::rehearse;

 private:
  friend class PlannedPrograms;
  double own_momentum = 0.0;  // the optimizer's own
  void require_swap_file() const;
  exec::Held beside_;  // what the budget counts beside the plan: tables, sums of metrics
  PlannedPrograms planned_{*this};
  std::optional<plan::TrainingPlanner> planner_;  // none: programs were compiled elsewhere
  int64_t micro_batch_size_ = 0;
  Sums step_sums_;
  std::vector<IgnoredLabel> ignored_labels_;  // with micro-batches
  std::optional<Plan> compiled_plan_;         // of programs that were compiled elsewhere
  // Throws the Error that such programs hold none for so many samples.
  [[noreturn]] void refuse_program(ProgramKind kind, int64_t batch) const;
  std::optional<CompileFor> file_;  // where programs are compiled for a file
  // Programs of that file, some of them twice; and TrainingProgram::tables_bytes of all so far.
  [[nodiscard]] std::vector<ProgramKey> file_keys() const;
  [[nodiscard]] int64_t tables_bytes() const;
  // The forward part, with averages of the weights if there are any.
  [[nodiscard]] ir::Graph inference(int64_t batch, bool with_loss) const;
  [[nodiscard]] ir::Graph graph_of(ProgramKind kind, int64_t batch) const;
  // Sets the session's sources for some samples of a batch. weight: of the gradients summed up so
  // far.
  void set_sources(const exec::Session& session, const data::Batch& batch,
                   const MicroBatch& micro_batch, Feed& feed, double weight) const;
  void evaluate_micro_batch(const data::Batch& batch, const MicroBatch& micro_batch, Feed& feed,
                            bool while_training, Sums& sums);
  // Whether gradients of several programs are summed up.
  [[nodiscard]] bool accumulates() const;
  // The kind of program for a micro-batch: the last one or another.
  [[nodiscard]] ProgramKind step_kind(bool is_last) const;
  // Runs a training program on a micro-batch. Throws Error if its loss is not finite.
  void run_micro_batch(exec::Session& session, const data::Batch& batch,
                       const MicroBatch& micro_batch, Feed& feed, double weight);
  // Throws Error if gradients are not finite at any loss scale.
  void check_loss_scale() const;
  // Throws Error if a batch is larger than planned, or empty.
  void check_count(const data::Batch& batch) const;
};

// The programs of a training with the values that it begins with. Takes its memory for a while.
// memos: see State. rehearse_with: rehearses a step that swaps.
[[nodiscard]] TrainingProgram compiled_programs(const ir::Graph& model,
                                                const TrainerOptions& options,
                                                const CompileFor& data,
                                                State::Memos* memos = nullptr,
                                                const Rehearse& rehearse_with = exec::rehearse);

}  // namespace thimble::train
