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

struct ExportOnnxArguments {
  std::string model;
  std::string out;
  std::string checkpoint;
  bool json = false;
};

int run_export_onnx(const ExportOnnxArguments& options) {
  if (!options.out.ends_with(".onnx")) {
    throw UsageError(Error(options.out, "expected a name that ends in .onnx"));
  }
  const Model model(options.model);
  const Graph graph = model.graph_with_weights(model.weights(options.checkpoint));
  export_onnx(graph, options.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  if (options.json) {
    print_json({{"file", options.out}, {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} in {}, {}\n", model.name(), options.out, format_bytes(bytes));
  return kOk;
}

}  // namespace

void add_export_onnx(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOnnxArguments>();
  CLI::App* command =
      app.add_subcommand("export-onnx", "Write what a model computes as an ONNX file");
  add_model(*command, options->model);
  command
      ->add_option("-o,--out", options->out,
                   "the file to write, NAME.onnx; inputs and outputs keep their names and shapes")
      ->required()
      ->type_name("FILE");
  add_checkpoint(*command, options->checkpoint);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n"
      "  thimble export-onnx lenet5 -o lenet5.onnx\n"
      "  thimble export-onnx resnet18 --checkpoint out/resnet18/best.safetensors \\\n"
      "    -o resnet18.onnx");
  command->callback(
      [&action, options] { action = [options] { return run_export_onnx(*options); }; });
}

}  // namespace thimble::cli
