#include <fmt/format.h>
#include <thimble/export.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <memory>

#include "commands.h"
#include "console.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct ExportTfliteArguments {
  std::string model;
  std::string out;
  std::string checkpoint;
  bool json = false;
};

int run_export_tflite(const ExportTfliteArguments& options) {
  if (!options.out.ends_with(".tflite") && !options.out.ends_with(".circle")) {
    throw UsageError(Error(options.out, "expected a name that ends in .tflite or .circle"));
  }
  const Model model(options.model);
  const Graph graph = model.graph_with_weights(model.weights(options.checkpoint));
  export_tflite(graph, options.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  if (options.json) {
    print_json({{"file", options.out}, {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} in {}, {}\n", model.name(), options.out, format_bytes(bytes));
  return kOk;
}

}  // namespace

void add_export_tflite(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportTfliteArguments>();
  CLI::App* command = app.add_subcommand(
      "export-tflite", "Write what a model computes as a TensorFlow Lite or circle file");
  add_model(*command, options->model);
  command
      ->add_option("-o,--out", options->out,
                   "the file to write, NAME.tflite or NAME.circle; inputs and outputs keep their "
                   "names")
      ->required()
      ->type_name("FILE");
  add_checkpoint(*command, options->checkpoint);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n"
      "  thimble export-tflite lenet5 -o lenet5.tflite\n"
      "  thimble quantize lenet5 --requantization fixed_point --int8-input --int8-output \\\n"
      "    -o lenet5_int8.safetensors\n"
      "  thimble export-tflite lenet5_int8.safetensors -o lenet5_int8.tflite");
  command->callback(
      [&action, options] { action = [options] { return run_export_tflite(*options); }; });
}

}  // namespace thimble::cli
