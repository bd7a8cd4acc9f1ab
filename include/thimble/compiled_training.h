// A training that is compiled on one machine and runs on another.
#pragma once

#include <thimble/graph.h>
#include <thimble/plan.h>
#include <thimble/trainer_options.h>

#include <cstdint>
#include <memory>
#include <string>

namespace thimble {

namespace train {
struct TrainingProgram;
}

// The data that a training will see. A last batch that is smaller than the others needs a program
// of its own.
struct CompileFor {
  int64_t samples = 0;       // of an epoch; 0: full batches alone
  int64_t test_samples = 0;  // of an evaluation, or a prediction; 0: full batches alone
  bool predict = false;      // whether to predict outputs, too
  // Run the reference kernels alone, whose bits C sources have, as the option reference_kernels
  // of the training does.
  bool reference_kernels = false;
  // For the command line; all may be left out.
  std::string name;    // of the model
  std::string recipe;  // of whose data it is
  int64_t epochs = 0;  // that the schedule was made for; 0: not said
};

// The programs of a training: planned steps as data, with the settings. Whoever has them trains
// without the model's graph and without planning (Trainer), to the same bits.
// Ownership: a value; copies share their contents. Thread safety: as any value.
// Errors: thimble::Error; files are checked before use, whoever made them.
class CompiledTraining {
 public:
  // Plans all steps, as Trainer(graph, options) does, and takes the memory that it takes. Throws
  // Error where that does, and where a setting cannot be said in a file: a schedule that is a
  // function.
  CompiledTraining(const Graph& graph, const TrainerOptions& options, const CompileFor& data = {});

  // Throws Error naming file, offset and field where it is no such file, is damaged, or does not
  // fit this machine and version.
  [[nodiscard]] static CompiledTraining load(const std::string& path);
  // Replaces the file at once.
  void save(const std::string& path) const;

  [[nodiscard]] const TrainerOptions& options() const;
  // Where the swap file is to lie, if there is one; empty: in the folder of temporary files.
  void set_swap_dir(const std::string& folder);
  // Totals and strategies of a training step's plan, without its buffers and steps.
  [[nodiscard]] const Plan& plan() const;
  // The model's inputs, labels, loss, metrics and outputs, without its ops: for data::open.
  [[nodiscard]] Graph interface() const;
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& recipe() const;
  [[nodiscard]] int64_t epochs() const;

  // For the library's own parts. Leaves this empty where nobody shares its contents.
  [[nodiscard]] train::TrainingProgram take() &&;

 private:
  explicit CompiledTraining(std::shared_ptr<train::TrainingProgram> programs);
  std::shared_ptr<train::TrainingProgram> programs_;
};

}  // namespace thimble
