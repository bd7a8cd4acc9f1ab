#include <fmt/format.h>
#include <thimble/thimble.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>

#include "adapt_options.h"
#include "commands.h"
#include "console.h"
#include "import/formats.h"
#include "ini_model.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct ImportArguments {
  std::string file;
  std::string out;
  std::vector<std::string> dims;  // NAME=NUMBER
  AdaptArguments changes;
  bool json = false;
};

std::map<std::string, int64_t> sizes_of(const std::vector<std::string>& dims) {
  std::map<std::string, int64_t> sizes;
  for (const std::string& dim : dims) {
    const size_t equals = dim.rfind('=');
    int64_t size = 0;
    const char* const end = dim.data() + dim.size();
    const char* const begin = equals == std::string::npos ? end : dim.data() + equals + 1;
    const auto [at, error] = std::from_chars(begin, end, size);
    if (equals == 0 || begin == end || error != std::errc() || at != end || size < 1) {
      throw UsageError(Error("--dim", fmt::format("expected NAME=NUMBER, got {}", dim)));
    }
    sizes[dim.substr(0, equals)] = size;
  }
  return sizes;
}

Graph read_model(const ImportArguments& options) {
  if (is_ini_model(options.file)) {
    if (!options.dims.empty()) {
      throw UsageError(Error("--dim", "a model of this format has no dimensions with names"));
    }
    return import_ini(options.file);
  }
  const importer::Format* const format = importer::format_of(options.file);
  if (format == nullptr) {
    throw UsageError(Error(options.file, fmt::format("expected the model of another program ({})",
                                                     importer::known_formats())));
  }
  std::vector<std::string> inputs{options.file};
  if (format->companions != nullptr) {
    for (std::string& file : format->companions(options.file)) inputs.push_back(std::move(file));
  }
  for (const std::string& input : inputs) {
    std::error_code error;
    if (std::filesystem::equivalent(input, options.out, error)) {
      throw UsageError(Error(options.out, "is read by this import; give --out another name"));
    }
  }
  if (!options.dims.empty() && format->read_with_dims == nullptr) {
    throw UsageError(Error("--dim", "a model of this format has no dimensions with names"));
  }
  return options.dims.empty() ? format->read(options.file)
                              : format->read_with_dims(options.file, sizes_of(options.dims));
}

int run_import(const ImportArguments& options) {
  Graph graph = read_model(options);
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
  command->add_option("file", options->file, importer::known_formats() + "; NNTrainer: NAME.ini")
      ->required()
      ->type_name("FILE");
  add_model_out(*command, options->out);
  command
      ->add_option(
          "--dim", options->dims,
          "size of a dimension that an ONNX model leaves open; of Hugging Face models tokens=N, "
          "those of a sample; may be given again")
      ->type_name("NAME=NUMBER")
      ->allow_extra_args(false);
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
