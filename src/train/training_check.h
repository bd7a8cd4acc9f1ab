// Whether the programs of a file fit the model, the settings and each other.
#pragma once

#include <string>

#include "train/training_program.h"

namespace thimble::train {

// Throws the Error that the file holds what does not belong together.
[[noreturn]] void refuse_file(const std::string& file, const std::string& what);

// Throws Error unless every program reads and computes what the model has, all of them share one
// store, one swap file and one arena, and all memory is what the plan says and keeps the budget.
void check_training(const TrainingProgram& training, const std::string& file);

}  // namespace thimble::train
