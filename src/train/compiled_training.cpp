#include <thimble/compiled_training.h>
#include <thimble/error.h>

#include <utility>

#include "train/state.h"
#include "train/training_program.h"

namespace thimble {

CompiledTraining::CompiledTraining(std::shared_ptr<train::TrainingProgram> programs)
    : programs_(std::move(programs)) {}

CompiledTraining::CompiledTraining(const Graph& graph, const TrainerOptions& options,
                                   const CompileFor& data) {
  if (data.samples < 0 || data.test_samples < 0) {
    throw Error("compile", "expected 0 or more samples, 0 for full batches alone");
  }
  if (data.predict && graph.ir().outputs.empty()) {
    throw Error("predict", "the graph has no output to predict; name one with Graph::output");
  }
  programs_ =
      std::make_shared<train::TrainingProgram>(train::compiled_programs(graph.ir(), options, data));
}

CompiledTraining CompiledTraining::load(const std::string& path) {
  return CompiledTraining(std::make_shared<train::TrainingProgram>(train::read_training(path)));
}

void CompiledTraining::save(const std::string& path) const {
  train::write_training(*programs_, path);
}

const TrainerOptions& CompiledTraining::options() const { return programs_->options; }

void CompiledTraining::set_swap_dir(const std::string& folder) {
  if (programs_.use_count() > 1) {
    programs_ = std::make_shared<train::TrainingProgram>(*programs_);
  }
  programs_->options.swap_dir = folder;
}

const Plan& CompiledTraining::plan() const { return programs_->plan; }
const std::string& CompiledTraining::name() const { return programs_->name; }
const std::string& CompiledTraining::recipe() const { return programs_->recipe; }
int64_t CompiledTraining::epochs() const { return programs_->epochs; }

Graph CompiledTraining::interface() const {
  Graph graph;
  graph.ir() = programs_->interface;
  return graph;
}

train::TrainingProgram CompiledTraining::take() && {
  if (programs_.use_count() == 1) return std::move(*programs_);
  return *programs_;
}

}  // namespace thimble
