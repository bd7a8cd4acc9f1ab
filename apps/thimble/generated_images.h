// Pictures of what a generative recipe has learnt, and their score.
#pragma once

#include <thimble/thimble.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/html/training_report.h"

namespace thimble::cli {

struct GenerationTask {
  const Recipe& recipe;
  Trainer& trainer;  // trained; its checkpoint is out/checkpoint.safetensors
  const data::Dataset& train;
  const data::Dataset& test;
  const std::string& out;
  uint64_t seed;
};

// Writes reconstructions.png and samples.png, adds both to the report, trains a classifier on the
// same data (saved as classifier.safetensors) and returns the inception score of new samples;
// nothing where Ctrl-C came in between.
std::optional<double> add_generated_images(const GenerationTask& task, io::TrainingReport& report);

// count images, [count, 28, 28, 1], drawn by a recipe's decoder with the weights of a checkpoint.
// The recipe must have a decoder.
[[nodiscard]] std::vector<float> draw_samples(const Recipe& recipe, const std::string& checkpoint,
                                              int64_t count, uint64_t seed);

}  // namespace thimble::cli
