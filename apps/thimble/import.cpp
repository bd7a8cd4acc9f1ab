#include <fmt/format.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <memory>

#include "adapt_options.h"
#include "commands.h"
#include "console.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct ImportArguments {
  std::string file;
  std::string out;
  AdaptArguments changes;
  bool json = false;
};

int run_import(const ImportArguments& options) {
  if (!options.file.ends_with(".json")) {
    throw UsageError(Error(options.file,
                           "expected a quantized network in JSON: NAME.json with "
                           "NAME.safetensors beside it"));
  }
  const std::filesystem::path weights =
      std::filesystem::path(options.file).replace_extension(".safetensors");
  for (const std::filesystem::path& input : {std::filesystem::path(options.file), weights}) {
    std::error_code error;
    if (std::filesystem::equivalent(input, options.out, error)) {
      throw UsageError(Error(options.out, "is read by this import; give --out another name"));
    }
  }
  Graph graph = import_quantized_json(options.file);
  if (options.changes.any()) graph = options.changes.applied(graph);
  const int64_t parameters = parameter_count(graph);
  save_model(graph, options.out, options.changes.adapt.seed);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  const auto nodes = static_cast<int64_t>(graph.ir().nodes.size());
  if (options.json) {
    print_json(
        {{"file", options.out}, {"ops", nodes}, {"parameters", parameters}, {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} ops with {} parameters in {}, {}\n", nodes, parameters, options.out,
             format_bytes(bytes));
  return kOk;
}

}  // namespace

void add_import(CLI::App& app, Action& action) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App* command =
      app.add_subcommand("import", "Write a model file from the model of another program");
  command
      ->add_option("file", options->file,
                   "a quantized network: NAME.json, with its weights in NAME.safetensors")
      ->required()
      ->type_name("FILE");
  add_model_out(*command, options->out);
  options->changes.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n"
      "  thimble import mcunet_int8.json -o mcunet.safetensors\n"
      "  thimble import mcunet_int8.json --loss softmax_cross_entropy --metric accuracy \\\n"
      "    --trainable '*' --f32-inputs -o mcunet.safetensors");
  command->callback([&action, options] { action = [options] { return run_import(*options); }; });
}

}  // namespace thimble::cli
