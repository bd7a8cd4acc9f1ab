#include <fmt/format.h>
#include <thimble/thimble.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "ir/summary.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct SummaryArguments {
  std::string model;
  bool parameters = false;
  bool json = false;
};

int run_summary(const SummaryArguments& options) {
  const Model model(options.model);
  const Graph& graph = model.graph();
  if (!options.json) {
    fmt::print("{}", graph.summary(options.parameters));
    return kOk;
  }
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  int64_t parameters = 0;
  for (const ir::LayerSummary& layer : ir::summarize(graph.ir())) {
    const int64_t own = layer.parameters + layer.frozen_parameters;
    parameters += own;
    layers.push_back({{"name", layer.name},
                      {"type", layer.type},
                      {"output_shape", to_string(layer.output)},
                      {"parameters", own},
                      {"inputs", layer.inputs}});
  }
  nlohmann::ordered_json report{
      {"recipe", model.name()}, {"parameters", parameters}, {"layers", layers}};
  if (options.parameters) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const ir::ParameterSummary& row : ir::summarize_parameters(graph.ir())) {
      list.push_back({{"name", row.name},
                      {"shape", to_string(row.shape)},
                      {"type", to_string(row.dtype)},
                      {"bytes", row.bytes},
                      {"trained", row.trained},
                      {"layer", row.layer}});
    }
    report["parameter_list"] = list;
  }
  print_json(report);
  return kOk;
}

}  // namespace

void add_summary(CLI::App& app, Action& action) {
  auto options = std::make_shared<SummaryArguments>();
  CLI::App* command = app.add_subcommand(
      "summary", "Print a model's layers: name, type, output shape, parameters, inputs");
  add_model(*command, options->model);
  command->add_flag("--parameters", options->parameters,
                    "list the parameters, too: name, shape, type, bytes, trained or frozen, layer");
  command->add_flag("--json", options->json, "print one JSON object instead of a table");
  command->callback([&action, options] { action = [options] { return run_summary(*options); }; });
}

}  // namespace thimble::cli
