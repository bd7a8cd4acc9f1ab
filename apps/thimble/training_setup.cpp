#include "training_setup.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "choice.h"
#include "commands.h"
#include "data/sample_numbers.h"
#include "ir/sizes.h"
#include "model.h"
#include "options.h"
#include "train/batch_stream.h"
#include "train/pipeline_bytes.h"
#include "train/scheme.h"

namespace thimble::cli {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

constexpr std::pair<const char*, Swap> kSwaps[] = {
    {"never", Swap::never}, {"auto", Swap::automatic}, {"always", Swap::always}};
constexpr std::pair<const char*, DType> kSavedActivations[] = {
    {"f32", DType::f32}, {"bf16", DType::bf16}, {"f16", DType::f16}};
constexpr std::pair<const char*, DType> kPrecisions[] = {
    {"f32", DType::f32}, {"bf16", DType::bf16}, {"f16", DType::f16}};

constexpr std::pair<const char*, DType> kErrorTypes[] = {{"f32", DType::f32}, {"i8", DType::i8}};
constexpr std::pair<const char*, bool> kScalings[] = {{"on", true}, {"off", false}};
constexpr std::pair<const char*, IntegerRounding> kRoundings[] = {
    {"stochastic", IntegerRounding::stochastic}, {"residual", IntegerRounding::residual}};

CLI::Validator parts() {
  return CLI::Validator(
      [](const std::string& text) {
        if (text == "auto" || whole_number(1)(text).empty()) return std::string();
        return fmt::format("expected a whole number of 1 or more, or auto, got \"{}\"", text);
      },
      "");
}

}  // namespace

void SetupOptions::add_to(CLI::App& command) {
  add_model(command, model);
  command.add_option("--batch", batch, "samples in one step [the recipe's; of other models 32]")
      ->check(whole_number(1, ir::kMostElements))
      ->type_name("N");
  command.add_option("--lr", lr, "learning rate, the peak of the schedule [the optimizer's]")
      ->check(above_zero())
      ->type_name("X");
  command
      .add_option("--optimizer", optimizer,
                  "one of " + joined(Optimizer::names()) +
                      "; with settings for example adamw:beta2=0.99,amsgrad; what is left out is "
                      "as in the recipe's optimizer, where the name is the same [the recipe's; of "
                      "other models adamw]")
      ->type_name("NAME[:SETTINGS]");
  command
      .add_option("--schedule", schedule,
                  "learning rate over the steps, made of " + joined(Schedule::names()) +
                      "; for example cosine:min=1e-5 or warmup:steps=100/linear [the recipe's]")
      ->type_name("NAME[:SETTINGS]");
  command.add_option("--clip-norm", clip_norm, "largest global norm of the gradients [no limit]")
      ->check(above_zero())
      ->type_name("X");
  command
      .add_option("--ema-decay", ema_decay,
                  "share kept in a running average of the weights, which evaluation and sampling "
                  "then use; 0: no average [the recipe's]")
      ->check(zero_to_one())
      ->type_name("X");
  command.add_option("--accumulate", accumulate, "steps whose gradients make one update [1]")
      ->check(whole_number(1, ir::kMostElements))
      ->type_name("N");
  command
      .add_option(
          "--freeze", freeze,
          "do not train the parameters whose names match a pattern, such as 'conv*'; they need "
          "neither gradient nor optimizer state; several with commas between them, or given one by "
          "one [none]")
      ->delimiter(',')
      ->type_name("PATTERNS")
      ->allow_extra_args(false);
  command
      .add_option("--lr-scale", lr_scale,
                  "a factor of the learning rate for the parameters whose names match the pattern, "
                  "such as 'dense*=20'; may be given more than once, the first match counts [1]")
      ->type_name("PATTERN=X")
      ->allow_extra_args(false);
  command
      .add_option(
          "--scheme", scheme,
          "sparse update: JSON that names what is trained, all else is frozen; for example "
          "{\"bias_last\": 4, \"weights\": {\"conv2\": 0.25, \"dense\": [0, 3]}}: the "
          "biases of the last layers, and of layers all weights (1), a ratio of input "
          "channels or a list of them; \"choice\": \"contribution\" chooses the channels of "
          "a ratio by gradients on the first 256 training samples, without it the largest "
          "weights decide [all is trained]")
      ->type_name("FILE");
  command.add_option("--seed", seed, "seed of initial values, order, noise [0]")
      ->check(whole_number(0))
      ->type_name("N");
  add_threads(command, threads);
  add_reference_kernels(command, reference_kernels);
  add_memory_to(command);
  add_integers_to(command);
}

void SetupOptions::add_memory_to(CLI::App& command) {
  command
      .add_option(
          "--memory-budget", memory_budget,
          "most memory that training may take: bytes, or a number with KiB, MiB or GiB, "
          "for example 1.5MiB; a budget that is too small is refused before anything runs, and "
          "the nearest one that works is named; an ample one avoids recomputation [none: "
          "recompute what is little work and saves memory]")
      ->type_name("SIZE");
  choice(command, "--swap", swap, kSwaps,
         "whether values may lie in a file between their uses, with the same results: auto where "
         "that takes less time than recomputation, always instead of recomputation; needs "
         "--memory-budget [auto]");
  command
      .add_option("--swap-dir", swap_dir,
                  "folder of the swap file, which has no name and disappears with the program "
                  "[that of temporary files]")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""))
      ->type_name("DIR");
  command
      .add_option_function<std::string>(
          "--micro-batches",
          [this](const std::string& text) {
            micro_batches = text == "auto" ? 0 : std::stoll(text);
          },
          "micro-batches that a batch is computed in, one after another, their gradients summed "
          "up: "
          "the same training to rounding; auto: as many as --memory-budget needs [1]")
      ->check(parts())
      ->type_name("N|auto");
  command.add_flag("--split-batch-norm", split_batch_norm,
                   "let batch norms use statistics of each micro-batch, which is another training");
  choice(command, "--precision", precision, kPrecisions,
         "type of activations and gradients; bf16 and f16 take half their memory and change the "
         "results, parameters, optimizer state, sums and the loss stay f32; f16 scales the loss "
         "and skips updates whose gradients overflow [f32]");
  command
      .add_option("--loss-scale", loss_scale,
                  "first factor of the loss with --precision f16; it halves at each skipped update "
                  "and doubles after --loss-scale-interval others in a row [65536]")
      ->check(above_zero())
      ->type_name("X");
  command
      .add_option("--loss-scale-interval", loss_scale_interval,
                  "updates in a row after which the loss scale doubles [2000]")
      ->check(whole_number(1))
      ->type_name("N");
  choice(command, "--saved-activations", saved_activations, kSavedActivations,
         "type in which activations are stored for the backward pass; bf16 and f16 take half the "
         "memory and change the results [f32]");
}

void SetupOptions::add_integers_to(CLI::App& command) {
  choice(command, "--qas", quantization_aware_scaling, kScalings,
         "quantization-aware scaling of int8 weights and int32 biases: the optimizer's rule is for "
         "the real numbers that they stand for, and --lr means what it means in f32; off: it is "
         "for the integers, so that --lr of adam counts steps of 1 [on]");
  choice(command, "--integer-rounding", integer_rounding, kRoundings,
         "how changes of int8 weights and int32 biases become whole: stochastic at random, up with "
         "the probability of the fractional part; residual to nearest, and what that leaves waits "
         "for the next update, in 2 bytes a number [stochastic]");
  choice(command, "--error-type", error_type, kErrorTypes,
         "how the gradients of int8 activations are stored; i8, with one scale for the tensor, "
         "takes a quarter of the memory, changes the results, and takes longer, as gradients of "
         "inputs are computed twice [f32]");
}

int64_t batch_of(const SetupOptions& options, const Recipe& recipe) {
  return options.batch > 0 ? options.batch : recipe.batch;
}

int64_t updates_of(const SetupOptions& options, const Recipe& recipe, int64_t epochs,
                   int64_t samples) {
  const int64_t batch = batch_of(options, recipe);
  const int64_t batches = samples / batch + (samples % batch != 0 ? 1 : 0);
  const int64_t steps = ir::bounded_product(epochs, batches);
  return steps / options.accumulate + (steps % options.accumulate != 0 ? 1 : 0);
}

namespace {

// Options that have no effect without another one are errors.
void check_pairs(const SetupOptions& options) {
  const auto needs = [](const char* option, const char* other) {
    throw Error(option, fmt::format("does nothing without {}; give that, too, or leave {} out",
                                    other, option));
  };
  if (!options.memory_budget) {
    if (options.swap == Swap::always) needs("--swap always", "--memory-budget");
    if (!options.swap_dir.empty()) needs("--swap-dir", "--memory-budget");
    if (options.micro_batches == 0) needs("--micro-batches auto", "--memory-budget");
  }
  if (options.swap == Swap::never && !options.swap_dir.empty()) {
    throw Error("--swap-dir",
                "names a folder for a file that --swap never rules out; leave one of "
                "them out");
  }
  if (options.precision != DType::f16) {
    if (options.loss_scale) needs("--loss-scale", "--precision f16");
    if (options.loss_scale_interval) needs("--loss-scale-interval", "--precision f16");
  }
  if (options.split_batch_norm && options.micro_batches == 1) {
    needs("--split-batch-norm", "--micro-batches");
  }
}

// PATTERN=X
ParamGroup scaled_group(const std::string& text) {
  const size_t at = text.rfind('=');
  ParamGroup group{.pattern = text.substr(0, at)};
  const std::string number = at == std::string::npos ? "" : text.substr(at + 1);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), group.lr_scale);
  const bool is_number = error == std::errc() && end == number.data() + number.size();
  if (group.pattern.empty() || !is_number || !(group.lr_scale >= 0.0)) {
    throw Error("--lr-scale",
                fmt::format("expected PATTERN=X with a number X of 0 or more, such as "
                            "'dense*=20', got '{}'",
                            text));
  }
  return group;
}

TrainerOptions made(const SetupOptions& options, const Recipe& recipe, int64_t steps) {
  check_pairs(options);
  Optimizer optimizer = recipe.optimizer();
  if (options.optimizer) optimizer = Optimizer::parse(*options.optimizer, optimizer);
  if (options.lr > 0.0) optimizer = optimizer.with_learning_rate(options.lr);
  const double lr = optimizer.learning_rate();
  TrainerOptions trainer{.optimizer = optimizer};
  if (options.schedule) {
    trainer.schedule = Schedule::parse(*options.schedule, lr, steps);
  } else if (recipe.schedule != nullptr) {
    trainer.schedule = recipe.schedule(lr, steps);
  }
  if (options.clip_norm > 0.0) trainer.clip = GradientClip::by_global_norm(options.clip_norm);
  trainer.ema_decay = options.ema_decay < 0.0 ? recipe.ema_decay : options.ema_decay;
  trainer.batch = batch_of(options, recipe);
  trainer.accumulate = options.accumulate;
  if (options.memory_budget) trainer.memory_budget = parse_bytes(*options.memory_budget);
  trainer.swap = options.swap;
  trainer.swap_dir = options.swap_dir;
  trainer.micro_batches = options.micro_batches;
  trainer.split_batch_norm = options.split_batch_norm;
  trainer.precision = options.precision;
  if (options.loss_scale) trainer.loss_scaling.initial = *options.loss_scale;
  if (options.loss_scale_interval) trainer.loss_scaling.interval = *options.loss_scale_interval;
  trainer.saved_activations = options.saved_activations;
  trainer.quantization_aware_scaling = options.quantization_aware_scaling;
  trainer.integer_rounding = options.integer_rounding;
  trainer.error_type = options.error_type;
  for (const std::string& pattern : options.freeze) {
    trainer.groups.push_back({.pattern = pattern, .frozen = true});
  }
  for (const std::string& scaled : options.lr_scale) trainer.groups.push_back(scaled_group(scaled));
  if (!options.scheme.empty()) trainer.scheme = UpdateScheme::load(options.scheme);
  trainer.seed = options.seed;
  trainer.threads = options.threads;
  trainer.reference_kernels = options.reference_kernels;
  return trainer;
}

}  // namespace

TrainerOptions trainer_options(const SetupOptions& options, const Recipe& recipe, int64_t steps) {
  return from_command_line([&] { return made(options, recipe, steps); });
}

TrainerOptions with_chosen_channels(TrainerOptions options, const Graph& graph,
                                    const std::string& resume,
                                    const std::function<data::Dataset()>& samples) {
  constexpr int64_t kSamples = 256;
  if (!options.scheme) return options;
  if (!resume.empty()) {
    options.scheme = train::continued(graph.ir(), *options.scheme, resume);
  }
  if (options.scheme->choice == UpdateScheme::Choice::contribution &&
      train::has_ratios(*options.scheme)) {
    options.scheme = choose_channels(graph, options, samples().take(kSamples));
  }
  return options;
}

TrainerOptions with_pipeline(TrainerOptions options, const data::Dataset& samples) {
  options.input_pipeline_bytes =
      train::stream_bytes(samples, {.batch = options.batch, .prefetch = 0});
  return options;
}

TrainerOptions with_pipeline(TrainerOptions options, int64_t samples, const Graph& model) {
  options.input_pipeline_bytes = data::SampleNumbers::bytes(samples, samples) +
                                 train::unpacked_bytes(model.ir(), options.batch);
  return options;
}

int64_t default_samples(int64_t batch) {
  constexpr int64_t kSamples = 1000;
  return (kSamples + batch - 1) / batch * batch;
}

}  // namespace thimble::cli
