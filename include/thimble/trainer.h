// Training a graph: compile once, then fit, evaluate, predict, save and resume.
#pragma once

#include <thimble/data.h>
#include <thimble/data_loader.h>
#include <thimble/graph.h>
#include <thimble/plan.h>
#include <thimble/trainer_options.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace thimble {

namespace train {
struct State;
}

// Means over samples.
struct Evaluation {
  double loss = 0.0;
  std::map<std::string, double> metrics;
  int64_t samples = 0;
};

struct StepReport {
  int64_t epoch = 0;           // from 0
  int64_t batch = 0;           // in its epoch, from 0
  int64_t batches = 0;         // of the epoch
  int64_t step = 0;            // of the whole training, from 0
  double loss = 0.0;           // of this batch
  double learning_rate = 0.0;  // used in this step
  double milliseconds = 0.0;   // of this step, input pipeline left out
  double swap_busy_ms = 0.0;   // while the swap file had transfers under way
  double swap_stall_ms = 0.0;  // while the step waited for the swap file
  // How long the rehearsed plan expects an updating step to wait that computes as long and whose
  // swap file is as busy; 0 without a rehearsal.
  double swap_expected_stall_ms = 0.0;
};

struct EpochReport {
  int64_t epoch = 0;  // from 0
  Evaluation train;   // as measured during the epoch, while parameters changed
  std::optional<Evaluation> validation;
  double learning_rate = 0.0;  // of the last step
  double seconds = 0.0;
  bool is_best = false;  // lowest monitored loss so far
};

struct FitOptions {
  int64_t epochs = 1;                       // in all, those of a resumed run counted in
  std::optional<data::Dataset> validation;  // evaluated after every epoch
  std::string checkpoint;       // file written after every epoch and on a stop; empty: none
  std::string best_checkpoint;  // file written when the monitored loss is lowest; empty: none
  int64_t patience = 0;         // stop after so many epochs without a lower loss; 0: never
  bool shuffle = true;
  int prefetch = 1;       // batches read ahead; 0: read between two steps, straight into them
  data::Augment augment;  // may be empty
  std::function<void(const StepReport&)> on_step;
  std::function<void(const EpochReport&)> on_epoch;
  std::function<bool()> stop;  // called after every step and epoch; true: save and return
};

struct FitResult {
  enum class End : uint8_t { finished, stopped, early };
  End end = End::finished;
  std::vector<EpochReport> epochs;  // of this call
  int64_t steps = 0;                // of the whole training
  double ms_per_step_median = 0.0;  // 0 where no step was left
  int64_t input_pipeline_bytes = 0;
  // The most that was held at once since the plan's memory was taken, input pipeline included.
  int64_t measured_peak_bytes = 0;
  int64_t swap_read_bytes = 0;  // by the steps of this call, without validation
  int64_t swap_written_bytes = 0;
  double swap_busy_ms = 0.0;            // while the swap file had transfers under way
  double swap_stall_ms = 0.0;           // while these steps waited for it
  double swap_expected_stall_ms = 0.0;  // that the plan expects; see StepReport
};

// The plan of Trainer(graph, options), made without taking the memory. nearest_feasible_bytes is
// the smallest budget found that can be kept. If the given budget cannot be kept, `fits` is false
// and the plan is the smallest found. Throws Error on invalid options and graphs.
[[nodiscard]] Plan plan_training(const Graph& graph, const TrainerOptions& options);

// A graph compiled for training. The loss watched for "best", for patience and by schedules is that
// of the validation set, or of the training set without one.
// Ownership: copies what it needs of the graph. Thread safety: none.
// Errors: thimble::Error; a loss that is not finite stops training with the step and the name of
// the first value that went bad, before any parameter is changed by it.
class Trainer {
 public:
  Trainer(const Graph& graph, const TrainerOptions& options);
  // Moves the graph instead of copying it: it is empty afterwards.
  Trainer(Graph&& graph, const TrainerOptions& options);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  // With an ema_decay, evaluate and predict use the averages of the weights, and a checkpoint holds
  // both; load_weights takes averages where a file has them.
  //
  // The plan of a step of the full batch: exactly what training holds, without the input pipeline.
  // Programs for other batch sizes, compiled by fit and evaluate, add their constants, for which
  // reserved_bytes are set aside.
  [[nodiscard]] Plan plan() const;
  [[nodiscard]] const TrainerOptions& options() const;

  FitResult fit(const data::Dataset& dataset, const FitOptions& options = {});
  [[nodiscard]] Evaluation evaluate(const data::Dataset& dataset);
  // The named output of every sample, row-major [samples, ...]. Throws Error if its program does
  // not fit into the budget.
  [[nodiscard]] std::vector<float> predict(const data::Dataset& dataset, const std::string& output);

  // Writes weights, optimizer state, step, seed and data position as safetensors: to a file beside
  // the old one, which is then renamed, so that the checkpoint is whole at any moment.
  void save(const std::string& path) const;
  // Continues exactly where save left off: the same bits as never having stopped. Throws Error
  // where names, shapes or settings that change the result differ.
  void resume(const std::string& path);
  // Reads the parameters and running statistics alone; training starts anew from them.
  void load_weights(const std::string& path);

  // A parameter's or running statistic's values, row-major; set_parameter sets a parameter's
  // average too. Throws Error for an unknown name.
  [[nodiscard]] std::vector<float> parameter(const std::string& name) const;
  void set_parameter(const std::string& name, const std::vector<float>& values);
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  // SHA-256, in hex, of all parameters' names and bytes in order of name.
  [[nodiscard]] std::string weights_sha256() const;
  [[nodiscard]] int64_t steps() const;

  // For the library's own parts.
  [[nodiscard]] train::State& state() { return *state_; }

 private:
  std::unique_ptr<train::State> state_;
};

}  // namespace thimble
