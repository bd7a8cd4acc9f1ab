// The named models that ship with thimble.
#pragma once

#include <thimble/array.h>
#include <thimble/data.h>
#include <thimble/graph.h>
#include <thimble/optimizers.h>
#include <thimble/schedule.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

// Options of sampling from a generative recipe. A missing option has the recipe's value; options
// without meaning for the recipe must be missing.
struct SampleOptions {
  int64_t count = 100;            // images or texts, 1 to 100,000
  uint64_t seed = 0;              // the same seed gives the same samples, for any number of threads
  std::string prompt;             // texts: what each begins with
  std::optional<int64_t> length;  // texts: bytes to add, 1 or more [256]
  std::optional<double> temperature;  // texts: below 1 likelier ones, 0 always the likeliest [1]
  std::optional<int64_t> top_k;       // texts: take the likeliest k bytes alone, 1 to 256 [all]
  std::optional<int64_t> steps;  // diffusion: from noise to image, 1 to the recipe's most_steps
  int threads = 0;               // 0: one per processor
  std::function<bool()> stop;    // called often; true: return what is complete, or nothing
  std::function<void(int64_t done, int64_t total)> on_progress;  // in units of the recipe's own
  // For texts: called with each piece of text `number` (from 0) when it is ready.
  std::function<void(int64_t number, std::string_view piece)> on_text;
};

// Images or texts, as the recipe's `makes` says.
struct Samples {
  Array images = {};  // f32 [count, height, width, channels], 0 to 1; of texts [0]
  std::vector<std::string> texts = {};
  // The requested class of each image, if the recipe has classes; else empty.
  std::vector<int64_t> classes = {};

  // Of one image: [height, width, channels]. Throws Error if there are no images.
  [[nodiscard]] Shape image() const;
};

enum class SampleKind : uint8_t { none, images, texts };

// Differences between the weights and those of the PyTorch model with the same module names,
// besides the order of the axes of convolutions.
struct TorchWeights {
  // A weight of which one axis runs over an image flattened as [height, width, channels]; PyTorch
  // flattens [channels, height, width].
  struct Flattened {
    const char* name;
    int axis;
    int64_t height, width, channels;
  };
  // A second name of a weight in PyTorch's state dict.
  struct Tied {
    const char* name;
    const char* of;
  };
  std::span<const Flattened> flattened;
  std::span<const Tied> tied;
  std::span<const char* const> buffers;  // suffixes of names that are not weights
};

// A model with the settings that train it well.
struct Recipe {
  const char* name;
  const char* doc;   // one line
  Graph (*build)();  // inputs and labels by the names of the data's fields, loss, outputs
  // Its samples. path: of real data, a folder or a file; empty: the built-in ones. Throws Error
  // where there is no such data.
  data::Dataset (*data)(const std::string& path, data::Split split);
  const char* data_doc;       // what path takes, one line
  const char* built_in_name;  // "built-in digits"
  const char* real_name;      // "MNIST"
  int64_t batch;
  int64_t epochs;
  Optimizer (*optimizer)();
  // The schedule for a peak learning rate over all steps; null: constant.
  Schedule (*schedule)(double learning_rate, int64_t steps) = nullptr;
  double ema_decay = 0.0;  // TrainerOptions::ema_decay

  SampleKind makes = SampleKind::none;
  // Called by sample with checked options; null if `makes` is none.
  Samples (*sampler)(const std::string& checkpoint, const SampleOptions& options) = nullptr;
  int64_t sample_steps = 0;  // default number of sampling steps; 0: has none
  int64_t most_steps = 0;    // largest number of sampling steps
  // For images: the recipe whose classifier, trained on the same data, scores them; null: none.
  const char* judge = nullptr;
  int64_t judge_epochs = 0;  // epochs of the classifier's training
  int64_t judged = 0;        // number of images for a score
  // The part that turns latent codes into samples: input "z", output "image"; null: none.
  Graph (*decoder)() = nullptr;
  int64_t latent = 0;  // numbers in a latent code
  // The part that a diffusion model draws with: inputs "x", "time", "digit" and "told", output "v";
  // null: none. It draws no random numbers itself.
  Graph (*denoiser)() = nullptr;
  TorchWeights torch;

  // New samples with the weights of a checkpoint. Throws Error naming the option that has no
  // meaning for the recipe or is out of its range, and if the checkpoint is not the recipe's.
  [[nodiscard]] Samples sample(const std::string& checkpoint, const SampleOptions& options) const;
};

// All recipes, sorted by name.
[[nodiscard]] std::span<const Recipe> recipes();

// Throws Error that lists the known names.
[[nodiscard]] const Recipe& find_recipe(const std::string& name);

}  // namespace thimble
