// INI files of NNTrainer in the place of a model. Builds without thimble::ml_train refuse them.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "training_setup.h"

namespace thimble::cli {

// Whether the name ends so.
[[nodiscard]] bool is_ini_model(const std::string& path);

// Throws UsageError where an option of the command was given that an INI file settles itself.
void require_ini_options(const CLI::App& command);

// What an INI file says of a training.
struct IniTraining {
  Graph graph;  // with initial weights
  TrainerOptions options;
  std::string name;
};
// All throw Error naming the file and what is wrong in it.
[[nodiscard]] IniTraining read_ini_training(const SetupOptions& setup);
// The model with the weights that its key save_path names, if there is such a file.
[[nodiscard]] Graph import_ini(const std::string& path);

// Trains on the data of the file, prints the log, and writes the trained model to the folder `out`.
// epochs, 0: those of the file.
int train_ini(const SetupOptions& setup, int64_t epochs, const std::string& out);

}  // namespace thimble::cli
