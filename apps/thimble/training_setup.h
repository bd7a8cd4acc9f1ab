// Options of a recipe's training.
#pragma once

#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace thimble::cli {

// Zero and empty mean the recipe's own setting.
struct SetupOptions {
  std::string model;
  int64_t batch = 0;
  double lr = 0.0;
  std::optional<std::string> optimizer;
  std::optional<std::string> schedule;
  double clip_norm = 0.0;
  double ema_decay = -1.0;  // negative: the recipe's
  int64_t accumulate = 1;
  std::vector<std::string> freeze;    // patterns of names
  std::vector<std::string> lr_scale;  // PATTERN=X
  std::string scheme;                 // file of a sparse update; empty: none
  uint64_t seed = 0;
  int threads = 0;
  bool reference_kernels = false;
  std::optional<std::string> memory_budget;
  Swap swap = Swap::automatic;
  std::string swap_dir;
  int64_t micro_batches = 1;  // 0: as many as the budget needs
  bool split_batch_norm = false;
  DType precision = DType::f32;
  std::optional<double> loss_scale;  // the first one of f16
  std::optional<int64_t> loss_scale_interval;
  DType saved_activations = DType::f32;
  bool quantization_aware_scaling = true;
  IntegerRounding integer_rounding = IntegerRounding::stochastic;
  DType error_type = DType::f32;  // of gradients of int8 activations

  // The positional model and the options.
  void add_to(CLI::App& command);

 private:
  void add_memory_to(CLI::App& command);
  void add_integers_to(CLI::App& command);
};

[[nodiscard]] int64_t batch_of(const SetupOptions& options, const Recipe& recipe);

// Updates of so many epochs over so many samples, over which the schedule stretches.
[[nodiscard]] int64_t updates_of(const SetupOptions& options, const Recipe& recipe, int64_t epochs,
                                 int64_t samples);

// steps: updates of the whole training. Throws UsageError.
[[nodiscard]] TrainerOptions trainer_options(const SetupOptions& options, const Recipe& recipe,
                                             int64_t steps);

// The options with channels chosen for the scheme, if they have one: by the weights of the graph,
// or by gradients on the first training samples. With a checkpoint to resume, those of the
// checkpoint where it was made with the scheme. samples(): asked where gradients are needed.
[[nodiscard]] TrainerOptions with_chosen_channels(TrainerOptions options, const Graph& graph,
                                                  const std::string& resume,
                                                  const std::function<data::Dataset()>& samples);

// Adds the least memory for reading samples, which a budget counts. Samples are read ahead if there
// is room.
[[nodiscard]] TrainerOptions with_pipeline(TrainerOptions options, const data::Dataset& samples);
// The same of so many samples of a model in an order of their own: the most that --samples takes is
// kMostSamples.
[[nodiscard]] TrainerOptions with_pipeline(TrainerOptions options, int64_t samples,
                                           const Graph& model);
// The training samples that a model without data is planned for: about a thousand, in whole
// batches.
[[nodiscard]] int64_t default_samples(int64_t batch);
inline constexpr int64_t kMostSamples = int64_t{1} << 40;

}  // namespace thimble::cli
