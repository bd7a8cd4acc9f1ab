#include <fmt/format.h>
#include <thimble/lora.h>
#include <thimble/thimble.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct ExportLoraArguments {
  std::string model;
  std::string out;
  std::string checkpoint;
  bool json = false;
};

int run_export_lora(const ExportLoraArguments& options) {
  const Model model(options.model);
  save_lora(model.graph_with_weights(model.weights(options.checkpoint)), options.out);
  if (options.json) {
    print_json({{"folder", options.out}});
    return kOk;
  }
  fmt::print("adapters of {} in {}\n", model.name(), options.out);
  return kOk;
}

}  // namespace

void add_export_lora(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportLoraArguments>();
  CLI::App* command = app.add_subcommand(
      "export-lora", "Write the LoRA adapters of a model as files of the PEFT library");
  add_model(*command, options->model);
  command
      ->add_option("-o,--out", options->out,
                   "the folder for adapter_model.safetensors and adapter_config.json")
      ->required()
      ->type_name("DIR");
  add_checkpoint(*command, options->checkpoint);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n"
      "  thimble export-lora out/llama/checkpoint.safetensors -o adapter");
  command->callback(
      [&action, options] { action = [options] { return run_export_lora(*options); }; });
}

}  // namespace thimble::cli
