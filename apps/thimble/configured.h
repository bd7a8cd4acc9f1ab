// A TensorFlow Lite or circle model made ready for training on a device by thimble-micro.
#pragma once

#include <thimble/thimble.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emit/micro_program.h"
#include "import/tflite/reader.h"
#include "import/tflite/weights_file.h"

namespace thimble::cli {

struct ConfigureOptions {
  std::string loss;
  std::string label = "label";
  std::vector<std::string> metrics;
  std::vector<std::string> trainable;  // patterns of parameters
  std::vector<std::string> optimizers;
  std::vector<int64_t> batches;
  int64_t memory_budget = 0;  // of all that the runtime takes; 0: none
  tflite::WofLayout layout = tflite::WofLayout::landed;
};

struct TrainedTensor {
  std::string parameter;
  int tensor = 0;
  Shape shape;  // of the parameter
  int64_t bytes = 0;
};

struct Configured {
  std::vector<TrainedTensor> trained;
  std::vector<std::string> frozen;      // parameters
  std::vector<std::string> recomputed;  // values of a training step
  std::string model;                    // without trained weights
  std::string weights;                  // wof
  std::vector<std::string> gradients;   // the backward part by optimizer, circle
  emit::MicroProgram program;

  [[nodiscard]] int64_t memory_bytes() const;
};

// Throws Error where no part of the model fits, a kernel is missing, or an option contradicts it.
[[nodiscard]] Configured configured(const tflite::File& file, const ConfigureOptions& options);
// The parameters that are trained within the budget: from the last layer to the first, all of a
// layer where that fits beside those before, else its bias.
[[nodiscard]] std::vector<std::string> chosen_parameters(const tflite::File& file,
                                                         ConfigureOptions options);

}  // namespace thimble::cli
