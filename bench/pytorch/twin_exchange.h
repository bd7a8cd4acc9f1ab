// The files that thimble exports for the comparison with PyTorch, and the settings of its training.
#pragma once

#include <thimble/thimble.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble::bench {

struct Samples {
  data::Dataset train;
  data::Dataset test;
  std::string name;  // "MNIST", "built-in digits" ...
};

// Arguments as on the command line. dir: empty for the recipe's built-in data; limit_train: 0 for
// all.
[[nodiscard]] Samples load_samples(const Recipe& recipe, const std::string& dir,
                                   int64_t limit_train);

struct Setup {
  const Recipe& recipe;
  int64_t batch;
  int64_t epochs;
  uint64_t seed;
  int threads;     // 0: one per processor
  bool plain_sgd;  // SGD of rate 1 instead of the recipe's optimizer, so that the step is the
                   // gradient
  double lr_scale = 1.0;  // of the recipe's learning rate
  double epsilon = 0.0;   // of the optimizer; 0: the recipe's
};

// A trainer with the recipe's defaults, its schedule stretched over all epochs.
[[nodiscard]] Trainer trainer_of(const Setup& setup, int64_t train_samples);

// The files are safetensors with arrays in thimble's layout (images [N, H, W, C]). Their metadata
// lists the data set's fields in order: "image,digit".
// train.FIELD and test.FIELD: all samples. Fields of f32 that hold multiples of 1/255 only, which
// the metadata lists as bytes, are u8: value / 255 in the model.
void write_samples(const Samples& samples, const std::string& path);
// weights.NAME: initial values of parameters and running statistics; order [epochs, samples] i32.
void write_start(const Setup& setup, const Samples& samples, const std::string& path);
// before.NAME and after.NAME: weights; field.NAME [steps, batch, ...] as fed; noise.I [steps,
// batch, ...]: the numbers of the model's random op I, for dropout the factors of its input; loss
// [steps]. Metadata: total_steps, over which a schedule stretches; plain_sgd, 0 or 1; lr_scale,
// epsilon.
void write_steps(const Setup& setup, const Samples& samples, int64_t steps,
                 const std::string& path);

// The tensor images of a file: any shape, f32. Throws Error.
[[nodiscard]] std::vector<float> read_images(const std::string& path);
// count images drawn by a recipe's decoder with the weights of a checkpoint.
[[nodiscard]] std::vector<float> draw_images(const Recipe& recipe, const std::string& checkpoint,
                                             int64_t count, uint64_t seed);

}  // namespace thimble::bench
