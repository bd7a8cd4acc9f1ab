// The samples of a generative recipe after its training, and their score.
#pragma once

#include <thimble/thimble.h>

#include <cstdint>
#include <optional>
#include <string>

#include "io/html/training_report.h"
#include "judge.h"

namespace thimble::cli {

struct GenerationTask {
  const Recipe& recipe;  // makes images or texts
  Trainer& trainer;      // trained; its checkpoint is out/checkpoint.safetensors
  const data::Dataset& train;
  const data::Dataset& test;
  const std::string& out;
  uint64_t seed;
  bool limited;  // train is not all the training data
};

struct Generated {
  std::string files;               // ", samples.png ...": what was written, for the closing line
  std::string text;                // for recipes that make text: a sample
  std::optional<Verdict> verdict;  // for recipes with a judge
};

// Writes samples.png or samples.txt, and reconstructions.png if the model has an output
// "reconstruction", and adds them to the report. If the recipe has a judge, trains it on the same
// data and saves it as classifier.safetensors. The result is incomplete after Ctrl-C. With a memory
// budget nothing is drawn or judged, because that would exceed it.
[[nodiscard]] Generated generate(const GenerationTask& task, io::TrainingReport& report);

// As Recipe::sample, with a progress bar; Ctrl-C ends it early.
[[nodiscard]] Samples draw(const Recipe& recipe, const std::string& checkpoint,
                           SampleOptions options);

// The first `count` images as one picture. images: f32 [images, height, width, channels].
[[nodiscard]] std::string picture(const Array& images, int64_t count, int64_t columns);

// Replaces a file: writes the bytes to a new file and renames it.
void write_file(const std::string& path, const std::string& bytes);

}  // namespace thimble::cli
