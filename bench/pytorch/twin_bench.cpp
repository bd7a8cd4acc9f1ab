// thimble's side of the comparison with PyTorch: exports samples, initial values, order and noise,
// runs the same training, and scores generated images. Called by bench/pytorch/compare.py.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "eval/inception_score.h"
#include "io/atomic_file.h"
#include "io/png/png.h"
#include "twin_exchange.h"
#include "twin_memory.h"

namespace thimble::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kClasses = 10;
constexpr int64_t kShownImages = 48;

struct Options {
  std::string recipe = "lenet5";
  std::string data;
  std::string out;
  std::string checkpoint;
  std::string images;
  std::string picture;
  std::string samples_file;
  int64_t samples = 0;
  int64_t limit = 0;
  int64_t batch = 0;
  int64_t epochs = 0;
  int64_t steps = 20;
  uint64_t seed = 0;
  double seconds = HUGE_VAL;
  bool plain_sgd = false;
  double lr_scale = 1.0;
  double epsilon = 0.0;
  int threads = 0;
  int64_t memory_budget = 0;
  std::string swap = "automatic";
  std::string swap_dir;
  bool no_average = false;
  bool plan_only = false;
};

const std::map<std::string, Swap> kSwaps = {
    {"never", Swap::never}, {"automatic", Swap::automatic}, {"always", Swap::always}};

Setup setup_of(const Options& options) {
  const Recipe& recipe = find_recipe(options.recipe);
  return {recipe,
          options.batch > 0 ? options.batch : recipe.batch,
          options.epochs > 0 ? options.epochs : recipe.epochs,
          options.seed,
          options.threads,
          options.plain_sgd,
          options.lr_scale,
          options.epsilon};
}

nlohmann::ordered_json metrics_of(const Evaluation& evaluation) {
  nlohmann::ordered_json json{{"loss", evaluation.loss}};
  json.update(evaluation.metrics);
  return json;
}

// Trains as `thimble train` does; a timing run stops after --steps or --seconds.
nlohmann::ordered_json train(const Options& options, bool timing) {
  const Setup setup = setup_of(options);
  const Samples samples = load_samples(setup.recipe, options.data, options.limit);
  Trainer trainer = trainer_of(setup, samples.train.size());
  std::vector<double> step_ms;
  step_ms.reserve(static_cast<size_t>(setup.epochs * (samples.train.size() / setup.batch + 1)));
  FitOptions fit{.epochs = setup.epochs};
  const bool has_rest = samples.train.size() % setup.batch != 0;
  fit.on_step = [&](const StepReport& step) {
    // A smaller last batch does not count for the time of a step.
    if (!has_rest || step.batch + 1 < step.batches) step_ms.push_back(step.milliseconds);
  };
  if (timing) {
    const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
    fit.stop = [&, end] {
      return static_cast<int64_t>(step_ms.size()) >= options.steps || Clock::now() >= end;
    };
  } else {
    fit.validation = samples.test;
  }
  const FitResult result = trainer.fit(samples.train, fit);
  nlohmann::ordered_json json{{"epochs", nlohmann::ordered_json::array()}};
  for (const EpochReport& epoch : result.epochs) {
    if (timing) break;
    json["epochs"].push_back(
        {{"train", metrics_of(epoch.train)}, {"test", metrics_of(*epoch.validation)}});
  }
  add_times(json, step_ms);
  json["planned_peak_bytes"] = trainer.plan().planned_peak_bytes;
  json["data_bytes"] = samples.train.bytes() + samples.test.bytes();
  json["peak_rss_bytes"] = peak_rss_bytes();
  if (!options.out.empty()) trainer.save(options.out);
  return json;
}

// Memory and step time of a training, with any memory budget.
nlohmann::ordered_json memory(const Options& options) {
  const Recipe& recipe = find_recipe(options.recipe);
  return measure_memory({recipe,
                         options.samples_file,
                         {.optimizer = recipe.optimizer(),
                          .ema_decay = options.no_average ? 0.0 : recipe.ema_decay,
                          .batch = options.batch > 0 ? options.batch : recipe.batch,
                          .memory_budget = options.memory_budget,
                          .swap = kSwaps.at(options.swap),
                          .swap_dir = options.swap_dir,
                          .seed = options.seed,
                          .threads = options.threads},
                         options.steps,
                         options.seconds,
                         options.plan_only});
}

// Inception score of images from a file, or drawn by a trained recipe.
nlohmann::ordered_json score(const Options& options) {
  const std::vector<float> images =
      options.images.empty()
          ? draw_images(find_recipe("vae"), options.checkpoint, options.samples, options.seed)
          : read_images(options.images);
  if (!options.picture.empty()) {
    const size_t shown = std::min<size_t>(images.size(), size_t{kShownImages} * 28 * 28);
    io::AtomicFile file(options.picture);
    file.write(io::png_grid(std::span(images).first(shown), {.columns = kShownImages / 4}));
    file.commit();
  }
  const Recipe& judge = find_recipe("lenet5");
  Trainer classifier(judge.build(), {.optimizer = judge.optimizer(), .batch = judge.batch});
  classifier.load_weights(options.recipe);
  const data::Dataset dataset = data::in_memory({{"image", {28, 28, 1}}}, {images});
  return {{"images", dataset.size()},
          {"inception_score",
           eval::inception_score(classifier.predict(dataset, "logits").floats(), kClasses)}};
}

void add_training_options(CLI::App& command, Options& options) {
  command.add_option("RECIPE", options.recipe)->required();
  command.add_option("--data", options.data, "real data; none: the recipe's built-in data");
  command.add_option("--limit", options.limit, "the first N training samples only");
  command.add_option("--batch", options.batch, "samples in one step; 0: the recipe's");
  command.add_option("--epochs", options.epochs, "0: the recipe's");
  command.add_option("--seed", options.seed);
  command.add_option("--threads", options.threads, "0: one per processor");
}

// Commands that write files for both sides.
void add_files(CLI::App& app, Options& options, nlohmann::ordered_json& answer) {
  CLI::App* command = app.add_subcommand("samples", "write the samples of both splits");
  command->add_option("RECIPE", options.recipe)->required();
  command->add_option("--data", options.data, "real data; none: the recipe's built-in data");
  command->add_option("--limit", options.limit, "the first N samples of each split only");
  command->add_option("--out", options.out)->required();
  command->callback([&] {
    Samples samples = load_samples(find_recipe(options.recipe), options.data, options.limit);
    if (options.limit > 0) samples.test = samples.test.take(options.limit);
    write_samples(samples, options.out);
    answer = {
        {"data", samples.name}, {"train", samples.train.size()}, {"test", samples.test.size()}};
  });

  command = app.add_subcommand("start", "write first weights and the order of the samples");
  add_training_options(*command, options);
  command->add_option("--out", options.out)->required();
  command->callback([&] {
    const Setup setup = setup_of(options);
    write_start(setup, load_samples(setup.recipe, options.data, options.limit), options.out);
    answer = {{"file", options.out}};
  });

  command = app.add_subcommand("steps", "write weights, batches and noise of a few steps");
  add_training_options(*command, options);
  command->add_option("--steps", options.steps)->check(CLI::Range(1, 1000));
  command->add_flag("--plain-sgd", options.plain_sgd, "instead of the recipe's optimizer");
  command->add_option("--lr-scale", options.lr_scale, "factor of the recipe's learning rate")
      ->check(CLI::PositiveNumber);
  command->add_option("--epsilon", options.epsilon, "of the optimizer; 0: the recipe's");
  command->add_option("--out", options.out)->required();
  command->callback([&] {
    const Setup setup = setup_of(options);
    write_steps(setup, load_samples(setup.recipe, options.data, options.limit), options.steps,
                options.out);
    answer = {{"file", options.out}};
  });
}

// Commands that train and measure.
void add_runs(CLI::App& app, Options& options, nlohmann::ordered_json& answer) {
  CLI::App* command = app.add_subcommand("train", "train in full; prints losses, time and memory");
  add_training_options(*command, options);
  command->add_option("--out", options.out, "checkpoint to write");
  command->callback([&] { answer = train(options, false); });

  command = app.add_subcommand("time", "time a few hundred steps");
  add_training_options(*command, options);
  command->add_option("--steps", options.steps)->check(CLI::Range(1, 1000000));
  command->add_option("--seconds", options.seconds, "end sooner after so long");
  command->callback([&] { answer = train(options, true); });

  command = app.add_subcommand("memory", "measure what some steps hold, and time them");
  command->add_option("RECIPE", options.recipe)->required();
  command->add_option("SAMPLES", options.samples_file, "a file of the command samples");
  command->add_option("--batch", options.batch, "samples in one step; 0: the recipe's");
  command->add_option("--steps", options.steps)->check(CLI::Range(1, 1000000));
  command->add_option("--seconds", options.seconds, "end sooner after so long");
  command->add_option("--threads", options.threads, "0: one per processor");
  command->add_option("--memory-budget", options.memory_budget, "bytes; 0: none");
  command->add_option("--swap", options.swap)
      ->check(CLI::IsMember({"never", "automatic", "always"}));
  command->add_option("--swap-dir", options.swap_dir, "folder of the swap file");
  command->add_flag("--no-average", options.no_average, "keep no running average of the weights");
  command->add_flag("--plan", options.plan_only, "print the plan and take no step");
  command->callback([&] { answer = memory(options); });

  command = app.add_subcommand("score", "compute an inception score by a classifier");
  command->add_option("CLASSIFIER", options.recipe, "checkpoint of lenet5")->required();
  command->add_option("--images", options.images, "safetensors file with the tensor images");
  command->add_option("--vae", options.checkpoint, "or: checkpoint of a vae to draw from");
  command->add_option("--picture", options.picture, "PNG of the first images to write");
  command->add_option("--samples", options.samples, "images to draw")->default_val(2000);
  command->add_option("--seed", options.seed);
  command->callback([&] { answer = score(options); });
}

int run(int argc, char** argv) {
  CLI::App app("thimble's side of the comparison with PyTorch");
  app.require_subcommand(1);
  Options options;
  nlohmann::ordered_json answer;
  add_files(app, options, answer);
  add_runs(app, options, answer);
  CLI11_PARSE(app, argc, argv);
  fmt::print("{}\n", answer.dump());
  return 0;
}

}  // namespace
}  // namespace thimble::bench

int main(int argc, char** argv) {
  try {
    return thimble::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "twin_bench: {}\n", error.what());
    return 1;
  }
}
