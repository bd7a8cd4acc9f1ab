// The commands that write a model as a file of another format.
#include <fmt/format.h>
#include <thimble/export.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "console.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct WrittenFormat {
  const char* command;
  const char* doc;
  std::vector<std::string> endings;
  const char* out_doc;
  const char* examples;
  void (*write)(const Graph& graph, const std::string& path);
};

struct ExportModelArguments {
  std::string model;
  std::string out;
  std::string checkpoint;
  std::string part;
  bool json = false;
};

// The whole model, or a part of its recipe.
Graph exported_graph(const Model& model, const ExportModelArguments& options) {
  if (options.part.empty()) return model.graph_with_weights(model.weights(options.checkpoint));
  const Recipe& recipe = model.settings();
  Graph (*const build)() = options.part == "decoder" ? recipe.decoder : recipe.denoiser;
  if (build == nullptr) {
    throw UsageError(Error("--part", fmt::format("{} has no {}", model.name(), options.part)));
  }
  Graph graph = build();
  load_weights(graph, model.weights(options.checkpoint));
  return graph;
}

int run_export_model(const WrittenFormat& format, const ExportModelArguments& options) {
  const std::vector<std::string>& endings = format.endings;
  if (std::none_of(endings.begin(), endings.end(),
                   [&](const std::string& ending) { return options.out.ends_with(ending); })) {
    throw UsageError(Error(
        options.out, fmt::format("expected a name that ends in {}", fmt::join(endings, " or "))));
  }
  const Model model(options.model);
  const Graph graph = exported_graph(model, options);
  format.write(graph, options.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  if (options.json) {
    print_json({{"file", options.out}, {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} in {}, {}\n", model.name(), options.out, format_bytes(bytes));
  return kOk;
}

void add_export_model(CLI::App& app, Action& action, const WrittenFormat& format) {
  auto options = std::make_shared<ExportModelArguments>();
  CLI::App* command = app.add_subcommand(format.command, format.doc);
  add_model(*command, options->model);
  command->add_option("-o,--out", options->out, format.out_doc)->required()->type_name("FILE");
  add_checkpoint(*command, options->checkpoint);
  command
      ->add_option("--part", options->part,
                   "write a part of a recipe alone: decoder, which makes images of latent numbers "
                   "(vae), or denoiser, which an image is drawn with (unet_ddpm) [the whole model]")
      ->check(CLI::Validator(CLI::IsMember({"decoder", "denoiser"})).description(""))
      ->type_name("PART");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(format.examples);
  command->callback([&action, options, format] {
    action = [options, format] { return run_export_model(format, *options); };
  });
}

}  // namespace

void add_export_tflite(CLI::App& app, Action& action) {
  add_export_model(
      app, action,
      {.command = "export-tflite",
       .doc = "Write what a model computes as a TensorFlow Lite or circle file",
       .endings = {".tflite", ".circle"},
       .out_doc = "the file to write, NAME.tflite or NAME.circle; inputs and outputs keep "
                  "their names",
       .examples = "Examples:\n"
                   "  thimble export-tflite lenet5 -o lenet5.tflite\n"
                   "  thimble quantize lenet5 --requantization fixed_point --int8-input "
                   "--int8-output \\\n"
                   "    -o lenet5_int8.safetensors\n"
                   "  thimble export-tflite lenet5_int8.safetensors -o lenet5_int8.tflite\n"
                   "  thimble export-tflite unet_ddpm --part denoiser -o denoiser.tflite",
       .write = export_tflite});
}

void add_export_onnx(CLI::App& app, Action& action) {
  add_export_model(
      app, action,
      {.command = "export-onnx",
       .doc = "Write what a model computes as an ONNX file",
       .endings = {".onnx"},
       .out_doc = "the file to write, NAME.onnx; inputs and outputs keep their names and "
                  "shapes",
       .examples = "Examples:\n"
                   "  thimble export-onnx lenet5 -o lenet5.onnx\n"
                   "  thimble export-onnx resnet18 --checkpoint out/resnet18/best.safetensors \\\n"
                   "    -o resnet18.onnx",
       .write = export_onnx});
}

}  // namespace thimble::cli
