// Training a graph: compile once, then fit, evaluate, predict, save and resume.
#pragma once

#include <thimble/array.h>
#include <thimble/compiled_training.h>
#include <thimble/data.h>
#include <thimble/data_loader.h>
#include <thimble/fit.h>
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
  // Without graph and planning. A batch that it has no program for is an Error.
  explicit Trainer(CompiledTraining training);
  ~Trainer();
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;

  // With an ema_decay, evaluate and predict use the averages of the weights, and a checkpoint holds
  // both; load_weights takes averages where a file has them.
  //
  // The plan of a step of the full batch: exactly what training holds, without the input pipeline.
  // Programs for other batch sizes, compiled by fit and evaluate, add their constants, for which
  // reserved_bytes are set aside; those of a program file hold its tables, too.
  [[nodiscard]] Plan plan() const;
  [[nodiscard]] const TrainerOptions& options() const;

  FitResult fit(const data::Dataset& dataset, const FitOptions& options = {});
  [[nodiscard]] Evaluation evaluate(const data::Dataset& dataset);
  // One training step on all samples of a data set as they lie: loss and metrics before it. Counts
  // steps, and no epochs. Throws Error where it has more samples than the batch.
  Evaluation step(const data::Dataset& samples);
  // The gradients that step would use, of every trained parameter that the loss depends on, or, in
  // a sparse update, of the part of it that is trained: those of the loss alone, without penalties,
  // limits and what was accumulated. The trainer stays as it was, random numbers and running
  // statistics as well. With f16 those that the loss scale makes overflow are not finite.
  [[nodiscard]] Gradients gradients(const data::Dataset& samples);
  // The named output of every sample, [samples, ...] of its type. Throws Error if its program does
  // not fit into the budget.
  [[nodiscard]] Array predict(const data::Dataset& dataset, const std::string& output);

  // Writes weights, optimizer state, step, seed and data position as safetensors: to a file beside
  // the old one, which is then renamed, so that the checkpoint is whole at any moment.
  void save(const std::string& path) const;
  // Writes the model alone, of averaged weights the averages: see thimble/model_file.h. The file of
  // save holds the model as well.
  void save_model(const std::string& path) const;
  // Continues exactly where save left off: the same bits as never having stopped. Throws Error
  // where names, shapes or settings that change the result differ.
  void resume(const std::string& path);
  // Reads the parameters and running statistics alone; training starts anew from them.
  void load_weights(const std::string& path);

  // The values of a parameter, a running statistic or an optimizer's state, such as "w.exp_avg" (or
  // "@w.exp_avg" where the model itself has a value of that name), of its type;
  // set_parameter takes as many elements of that type under the same shape or in a row, and sets a
  // parameter's average too. Throws Error for an unknown name, another type or another shape.
  [[nodiscard]] Array parameter(const std::string& name) const;
  void set_parameter(const std::string& name, const Array& values);
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  // SHA-256, in hex, of all parameters' names and bytes in order of name.
  [[nodiscard]] std::string weights_sha256() const;
  // Steps and epochs done, those before a resume counted in; an epoch that runs is not done.
  [[nodiscard]] int64_t steps() const;
  // Goes on as if so many steps were done: for parameters and optimizer states of another program
  // (set_parameter). Throws Error below 0.
  void set_steps(int64_t steps);
  [[nodiscard]] int64_t epochs() const;
  // With f16: the present loss scale (0: none), and updates skipped so far, those before a resume
  // counted in.
  [[nodiscard]] double loss_scale() const;
  [[nodiscard]] int64_t skipped_updates() const;

  // For the library's own parts.
  [[nodiscard]] train::State& state() { return *state_; }

 private:
  std::unique_ptr<train::State> state_;
};

}  // namespace thimble
