// All programs of a training with its settings, and the file of them.
#pragma once

#include <thimble/plan.h>
#include <thimble/trainer_options.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/model/model.h"
#include "ir/graph.h"
#include "program/program.h"
#include "train/epoch_metrics.h"
#include "train/given_values.h"
#include "train/index_checks.h"
#include "train/micro_batches.h"
#include "train/runner.h"

namespace thimble::train {

// What a training needs that is compiled elsewhere.
struct TrainingProgram {
  std::string name;    // of the model; may be empty
  std::string recipe;  // whose data it takes; may be empty
  int64_t epochs = 0;  // that its schedule was made for; 0: not said
  TrainerOptions options;
  int64_t micro_batch_size = 0;  // samples
  // Of the model: sources, loss, metrics and outputs, with the batch open. It has no nodes.
  ir::Graph interface;
  io::ModelParts model;  // the graph, for checkpoints
  // Of parameters and states that do not begin with those of their initializers; of a program file
  // they stay there.
  GivenValues given;
  Finishes finishes;  // of the metrics
  std::vector<IndexCheck> indices;
  std::vector<IgnoredLabel> ignored_labels;
  Plan plan;  // totals and strategies, without buffers and steps
  std::map<ProgramKey, program::Program> programs;
  // Bytes that a trainer allocates beside the plan: tables, the text of the graph, the trainer.
  int64_t tables_bytes = 0;
};

// The sources and results of a model, without its nodes.
[[nodiscard]] ir::Graph interface_of(const ir::Graph& model);

// Replaces the file at once. Throws Error where it cannot be written, or where a setting cannot be
// said in a file, such as a schedule that is a function.
void write_training(const TrainingProgram& training, const std::string& path);

// Throws Error naming file, offset and field where anything is not as it must be: numbers, types,
// addresses, programs that do not fit each other or the settings.
[[nodiscard]] TrainingProgram read_training(const std::string& path);
// The same from memory; name stands in errors.
[[nodiscard]] TrainingProgram parse_training(std::string name, std::string bytes);

}  // namespace thimble::train
