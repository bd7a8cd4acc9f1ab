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
  bool qat = false;
  int weight_bits = 8;  // of --qat
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

// Loss and metrics on the test data of the network and of what was made of it.
struct Scores {
  Evaluation f32;
  Evaluation made;
};

std::optional<Scores> scores_of(const Graph& f32, const Graph& made, DataSource& source,
                                int64_t batch, int threads) {
  if (!f32.ir().loss) return std::nullopt;
  const EvaluatorOptions options{.weights = "", .batch = batch, .threads = threads};
  const data::Dataset samples = source.test();
  return Scores{Evaluator(f32, options).evaluate(samples),
                Evaluator(made, options).evaluate(samples)};
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

nlohmann::ordered_json float_layers_json(const std::vector<FloatLayer>& float_layers) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const FloatLayer& layer : float_layers) {
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
}

void print_float_layers(const std::vector<FloatLayer>& float_layers) {
  for (const FloatLayer& layer : float_layers) {
    fmt::print("stays f32: {} ({}): {}\n", layer.name, layer.op, layer.reason);
  }
}

void print_scores(const Scores& scores, const char* made, const char* data) {
  fmt::print("{} test samples of {}:\n", scores.f32.samples, data);
  const auto line = [](const char* what, const Evaluation& evaluation) {
    fmt::print("  {:<5} loss {:.6g}", what, evaluation.loss);
    for (const auto& [name, value] : evaluation.metrics) fmt::print(", {} {:.6g}", name, value);
    fmt::print("\n");
  };
  line("f32", scores.f32);
  line(made, scores.made);
}

// A report that both results begin with.
nlohmann::ordered_json report_of(const QuantizeArguments& arguments, const Model& model) {
  return {{"recipe", model.name()},
          {"file", arguments.out},
          {"bytes", static_cast<int64_t>(std::filesystem::file_size(arguments.out))},
          {"calibration", name_of_choice(kCalibrations, arguments.settings.calibration)}};
}

void add_scores(nlohmann::ordered_json& report, const std::optional<Scores>& scores,
                const char* made) {
  if (!scores) return;
  report["test_samples"] = scores->f32.samples;
  report["f32"] = json_of(scores->f32);
  report[made] = json_of(scores->made);
}

int write_int8(const QuantizeArguments& arguments, const Model& model, const Graph& f32,
               DataSource& source, const QuantizeModelOptions& settings, int64_t batch,
               ProgressBar& bar) {
  const QuantizedModel made = quantize_model(f32, source.train(), settings);
  bar.clear();
  const auto scores = scores_of(f32, made.with_f32_inputs, source, batch, settings.threads);
  save_model(made.graph, arguments.out);
  nlohmann::ordered_json report = report_of(arguments, model);
  if (arguments.json) {
    report["requantization"] = name_of_choice(kRequantizationNames, settings.requantization);
    report["samples"] = made.samples;
    add_scores(report, scores, "int8");
    report["layers"] = layers_json(made);
    report["float_layers"] = float_layers_json(made.float_layers);
    print_json(report);
    return kOk;
  }
  print_layers(made);
  print_float_layers(made.float_layers);
  if (scores) print_scores(*scores, "int8", source.name());
  fmt::print("{} on int8, calibrated with {} samples, in {}, {}\n", model.name(), made.samples,
             arguments.out, format_bytes(report["bytes"].get<int64_t>()));
  return kOk;
}

int write_prepared(const QuantizeArguments& arguments, const Model& model, const Graph& f32,
                   DataSource& source, const QuantizeModelOptions& settings, int64_t batch,
                   ProgressBar& bar) {
  const QatModel made = prepare_qat(f32, source.train(),
                                    {.weight_bits = arguments.weight_bits,
                                     .calibration = settings.calibration,
                                     .percentile = settings.percentile,
                                     .samples = settings.samples,
                                     .threads = settings.threads,
                                     .on_progress = settings.on_progress});
  bar.clear();
  const auto scores = scores_of(f32, made.graph, source, batch, settings.threads);
  save_model(made.graph, arguments.out);
  nlohmann::ordered_json report = report_of(arguments, model);
  if (arguments.json) {
    report["weight_bits"] = arguments.weight_bits;
    report["samples"] = made.samples;
    add_scores(report, scores, "qat");
    report["float_layers"] = float_layers_json(made.float_layers);
    print_json(report);
    return kOk;
  }
  print_float_layers(made.float_layers);
  if (scores) print_scores(*scores, "qat", source.name());
  fmt::print("{} prepared for quantization-aware training, calibrated with {} samples, in {}, {}\n",
             model.name(), made.samples, arguments.out,
             format_bytes(report["bytes"].get<int64_t>()));
  return kOk;
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
  const int64_t batch = arguments.batch > 0 ? arguments.batch : model.settings().batch;
  const auto write = arguments.qat ? write_prepared : write_int8;
  return write(arguments, model, f32, source, settings, batch, bar);
}

// Options of --qat, and those that do not go with it.
void add_qat(CLI::App& command, QuantizeArguments& arguments) {
  CLI::Option* const qat = command.add_flag(
      "--qat", arguments.qat,
      "write a model of f32 for quantization-aware training instead: what int8 layers read and "
      "give is rounded to the steps of their integers. Train it, then quantize it");
  command
      .add_option("--weight-bits", arguments.weight_bits,
                  "of --qat: bits that integers of weights use, 2 to 8 [8]")
      ->check(CLI::Validator(CLI::Range(2, 8)).description(""))
      ->needs(qat)
      ->type_name("N");
  for (const char* other : {"--requantization", "--int8-input", "--int8-output"}) {
    command.get_option(other)->excludes(qat);
  }
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
  add_model_out(*command, arguments->out);
  add_checkpoint(*command, arguments->checkpoint);
  add_settings(*command, arguments->settings);
  add_qat(*command, *arguments);
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
      "      --calibration mse -o lenet5_int8.safetensors\n\n"
      "Example: train for few bits\n  thimble quantize lenet5 --qat --weight-bits 4 "
      "-o lenet5_qat.safetensors\n  thimble train lenet5_qat.safetensors --data DIR --out out/qat\n"
      "  thimble quantize out/qat/checkpoint.safetensors --data DIR -o lenet5_int4.safetensors");
  command->callback(
      [&action, arguments] { action = [arguments] { return run_quantize(*arguments); }; });
}

}  // namespace thimble::cli
