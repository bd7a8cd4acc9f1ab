#include <fmt/format.h>
#include <thimble/thimble.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "options.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct Options {
  SetupOptions setup;
  bool json = false;
};

nlohmann::ordered_json buffers_of(const Plan& plan) {
  nlohmann::ordered_json buffers = nlohmann::ordered_json::array();
  for (const PlanBuffer& buffer : plan.buffers) {
    buffers.push_back({{"name", buffer.name},
                       {"role", buffer.role},
                       {"dtype", to_string(buffer.dtype)},
                       {"shape", buffer.shape.dims()},
                       {"bytes", buffer.bytes},
                       {"offset", buffer.offset},
                       {"birth", buffer.birth},
                       {"death", buffer.death}});
  }
  return buffers;
}

int run(const Options& options) {
  const Recipe& recipe = chosen_recipe(options.setup.recipe);
  // One step is enough: the schedule changes no buffer.
  const Trainer trainer(recipe.build(), trainer_options(options.setup, recipe, 1));
  const Plan& plan = trainer.plan();
  if (!options.json) {
    fmt::print("{}", plan.text());
    return kOk;
  }
  print_json({{"planned_peak_bytes", plan.planned_peak_bytes},
              {"lower_bound_bytes", plan.lower_bound_bytes},
              {"parameter_bytes", plan.parameter_bytes},
              {"state_bytes", plan.state_bytes},
              {"activation_peak_bytes", plan.activation_peak_bytes},
              {"workspace_bytes", plan.workspace_bytes},
              {"buffers", buffers_of(plan)}});
  return kOk;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "plan", "Print the memory plan of a training step: the exact peak and what binds it");
  options->setup.add_to(*command);
  command->add_flag("--json", options->json, "print one JSON object with every buffer instead");
  command->footer(
      "Examples:\n  thimble plan vae --batch 8\n  thimble plan lenet5 --optimizer sgd "
      "--memory-budget 2MiB");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace thimble::cli
