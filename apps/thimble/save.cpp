#include <fmt/format.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "commands.h"
#include "console.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct SaveArguments {
  std::string model;
  std::string out;
  std::string checkpoint;
  std::optional<uint64_t> seed;
  bool json = false;
};

int run_save(const SaveArguments& options) {
  const Model model(options.model);
  const std::string weights = options.checkpoint.empty() ? model.file() : options.checkpoint;
  if (options.seed && !weights.empty()) {
    throw UsageError(Error("--seed", fmt::format("does nothing where the weights are those of {}; "
                                                 "leave it out",
                                                 weights)));
  }
  Graph graph;
  graph.ir() = model.graph().ir();
  if (!weights.empty()) load_weights(graph, weights);
  save_model(graph, options.out, options.seed.value_or(0));
  const int64_t parameters = parameter_count(graph);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  if (options.json) {
    print_json({{"recipe", model.name()},
                {"file", options.out},
                {"parameters", parameters},
                {"bytes", bytes}});
    return kOk;
  }
  fmt::print("{} with {} parameters in {}, {}\n", model.name(), parameters, options.out,
             format_bytes(bytes));
  return kOk;
}

}  // namespace

void add_save(CLI::App& app, Action& action) {
  auto options = std::make_shared<SaveArguments>();
  CLI::App* command = app.add_subcommand(
      "save", "Write a model file: graph and weights, which every command takes as its MODEL");
  add_model(*command, options->model);
  command->add_option("-o,--out", options->out, "the file to write")->required()->type_name("FILE");
  command
      ->add_option(
          "--checkpoint", options->checkpoint,
          "checkpoint or other safetensors file with the weights [those of the model file; "
          "of a recipe new weights]")
      ->type_name("FILE");
  command->add_option("--seed", options->seed, "seed of new weights [0]")
      ->check(whole_number(0))
      ->type_name("N");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n  thimble save lenet5 -o lenet5.safetensors --checkpoint "
      "out/lenet5/checkpoint.safetensors");
  command->callback([&action, options] { action = [options] { return run_save(*options); }; });
}

}  // namespace thimble::cli
