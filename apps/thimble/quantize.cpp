#include <fmt/format.h>
#include <thimble/quantize.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include "choice.h"
#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct QuantizeArguments {
  std::string model;
  std::string checkpoint;
  std::string out;
  DataOptions data;
  QuantizeModelOptions settings{.threads = 0};
  int64_t batch = 0;  // of the evaluation
  bool json = false;
};

constexpr std::pair<const char*, Calibration> kCalibrations[] = {
    {"minmax", Calibration::minmax},
    {"percentile", Calibration::percentile},
    {"mse", Calibration::mse}};
constexpr std::pair<const char*, Requantization> kRequantizationNames[] = {
    {"float", Requantization::floating}, {"fixed_point", Requantization::fixed_point}};

template <class T, size_t n>
const char* name_of_choice(const std::pair<const char*, T> (&choices)[n], T value) {
  for (const auto& [name, each] : choices) {
    if (each == value) return name;
  }
  return "";
}

// Loss and metrics on the test data of the f32 and the int8 network.
struct Scores {
  Evaluation f32;
  Evaluation int8;
};

Scores scores_of(const Graph& f32, const Graph& int8, const data::Dataset& samples, int64_t batch,
                 int threads) {
  const EvaluatorOptions options{.weights = "", .batch = batch, .threads = threads};
  return {Evaluator(f32, options).evaluate(samples), Evaluator(int8, options).evaluate(samples)};
}

nlohmann::ordered_json json_of(const Evaluation& evaluation) {
  return {{"test_loss", evaluation.loss}, {"metrics", evaluation.metrics}};
}

nlohmann::ordered_json layers_json(const QuantizedModel& made) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const QuantizedLayer& layer : made.layers) {
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"scale", layer.scale},
                      {"zero_point", layer.zero_point},
                      {"sqnr_db", layer.sqnr_db}});
  }
  return layers;
}

nlohmann::ordered_json float_layers_json(const QuantizedModel& made) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const FloatLayer& layer : made.float_layers) {
    layers.push_back({{"name", layer.name}, {"op", layer.op}, {"reason", layer.reason}});
  }
  return layers;
}

void print_layers(const QuantizedModel& made) {
  size_t name = 5;
  size_t op = 2;
  for (const QuantizedLayer& layer : made.layers) {
    name = std::max(name, layer.name.size());
    op = std::max(op, layer.op.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>11}  {:>10}  {:>8}\n", "layer", name, "op", op, "scale",
             "zero point", "SQNR");
  for (const QuantizedLayer& layer : made.layers) {
    fmt::print("{:<{}}  {:<{}}  {:>11.5g}  {:>10}  {:>5.1f} dB\n", layer.name, name, layer.op, op,
               layer.scale, layer.zero_point, layer.sqnr_db);
  }
  for (const FloatLayer& layer : made.float_layers) {
    fmt::print("stays f32: {} ({}): {}\n", layer.name, layer.op, layer.reason);
  }
}

void print_scores(const Scores& scores, const char* data) {
  fmt::print("{} test samples of {}:\n", scores.f32.samples, data);
  const auto line = [](const char* what, const Evaluation& evaluation) {
    fmt::print("  {:<5} loss {:.6g}", what, evaluation.loss);
    for (const auto& [name, value] : evaluation.metrics) fmt::print(", {} {:.6g}", name, value);
    fmt::print("\n");
  };
  line("f32", scores.f32);
  line("int8", scores.int8);
}

int run_quantize(const QuantizeArguments& arguments) {
  const Model model(arguments.model);
  const std::string weights = model.weights(arguments.checkpoint);
  std::error_code error;
  if (std::filesystem::equivalent(weights, arguments.out, error)) {
    throw UsageError(Error(arguments.out, "holds the weights; give --out another name"));
  }
  Graph f32;
  f32.ir() = model.graph().ir();
  load_weights(f32, weights);
  DataSource source(model, arguments.data);
  QuantizeModelOptions settings = arguments.settings;
  ProgressBar bar;
  settings.on_progress = [&bar](int64_t done, int64_t total) {
    bar.show(done, total, "quantizing", fmt::format("{}/{} samples", done, total));
  };
  const QuantizedModel made = quantize_model(f32, source.train(), settings);
  bar.clear();
  const int64_t batch = arguments.batch > 0 ? arguments.batch : model.settings().batch;
  std::optional<Scores> scores;  // none for a model without loss
  if (f32.ir().loss) {
    scores = scores_of(f32, made.with_f32_inputs, source.test(), batch, settings.threads);
  }
  save_model(made.graph, arguments.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(arguments.out));
  if (arguments.json) {
    nlohmann::ordered_json report = {
        {"recipe", model.name()},
        {"file", arguments.out},
        {"bytes", bytes},
        {"calibration", name_of_choice(kCalibrations, settings.calibration)},
        {"requantization", name_of_choice(kRequantizationNames, settings.requantization)},
        {"samples", made.samples}};
    if (scores) {
      report["test_samples"] = scores->f32.samples;
      report["f32"] = json_of(scores->f32);
      report["int8"] = json_of(scores->int8);
    }
    report["layers"] = layers_json(made);
    report["float_layers"] = float_layers_json(made);
    print_json(report);
    return kOk;
  }
  print_layers(made);
  if (scores) print_scores(*scores, source.name());
  fmt::print("{} on int8, calibrated with {} samples, in {}, {}\n", model.name(), made.samples,
             arguments.out, format_bytes(bytes));
  return kOk;
}

void add_settings(CLI::App& command, QuantizeModelOptions& settings) {
  choice(command, "--calibration", settings.calibration, kCalibrations,
         "how the range of an activation is chosen: from the least to the largest value; without "
         "the outermost values (--percentile); or the range of the least mean square error "
         "[minmax]");
  command
      .add_option("--percentile", settings.percentile,
                  "of --calibration percentile: percent of the values inside the range [99.99]")
      ->check(CLI::Validator(CLI::Range(50.0, 100.0)).description(""))
      ->type_name("P");
  command
      .add_option("--samples", settings.samples,
                  "calibrate with the first N training samples [256]")
      ->check(whole_number(1))
      ->type_name("N");
  choice(command, "--requantization", settings.requantization, kRequantizationNames,
         "how sums become int8: times a scale of f32, or by the integers of TensorFlow Lite "
         "[float]");
  command.add_flag("--int8-input", settings.int8_inputs, "inputs of f32 become inputs of int8");
  command.add_flag("--int8-output", settings.int8_outputs, "outputs of int8 layers are int8");
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<QuantizeArguments>();
  CLI::App* command = app.add_subcommand(
      "quantize", "Write a model file of int8 from a trained model, and compare the two");
  add_model(*command, arguments->model);
  command->add_option("-o,--out", arguments->out, "the model file to write")
      ->required()
      ->type_name("FILE");
  add_checkpoint(*command, arguments->checkpoint);
  add_settings(*command, arguments->settings);
  arguments->data.add_to(*command);
  command
      ->add_option("--batch", arguments->batch,
                   "samples in one step of the evaluation [the recipe's; of other models 32]")
      ->check(whole_number(1))
      ->type_name("N");
  add_threads(*command, arguments->settings.threads);
  command->add_flag("--json", arguments->json, "print one JSON object instead");
  command->footer(
      "Example:\n  thimble quantize lenet5 --checkpoint out/lenet5/checkpoint.safetensors \\\n"
      "      --calibration mse -o lenet5_int8.safetensors");
  command->callback(
      [&action, arguments] { action = [arguments] { return run_quantize(*arguments); }; });
}

}  // namespace thimble::cli
