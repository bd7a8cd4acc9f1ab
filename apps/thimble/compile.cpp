#include <fmt/format.h>
#include <thimble/thimble.h>

#include <filesystem>
#include <memory>

#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct CompileArguments {
  SetupOptions setup;
  DataOptions data;
  int64_t epochs = 0;
  int64_t samples = 0;
  int64_t test_samples = 0;
  bool predict = false;
  std::string weights;
  std::string out;
  bool json = false;
};

// Numbers of samples, from the options or the data.
CompileFor compiled_for(const CompileArguments& options, const Model& model) {
  const int64_t epochs = model.settings().epochs;
  CompileFor wanted{.samples = options.samples,
                    .test_samples = options.test_samples,
                    .predict = options.predict,
                    .name = model.name(),
                    .recipe = model.recipe() == nullptr ? "" : model.recipe()->name,
                    .epochs = options.epochs > 0 ? options.epochs : epochs};
  if (wanted.samples > 0 && wanted.test_samples > 0) return wanted;
  DataSource source(model, options.data);
  if (source.has_none()) {
    if (wanted.samples == 0) {
      wanted.samples = default_samples(batch_of(options.setup, model.settings()));
    }
    return wanted;  // full batches of test samples
  }
  if (wanted.samples == 0) wanted.samples = source.train().size();
  if (wanted.test_samples == 0) wanted.test_samples = source.test().size();
  return wanted;
}

std::string text_of(const CompileFor& wanted) {
  if (wanted.test_samples == 0) {
    return fmt::format("{} training samples and full batches of test samples", wanted.samples);
  }
  return fmt::format("{} training and {} test samples", wanted.samples, wanted.test_samples);
}

int compile(const CompileArguments& options) {
  const Model model(options.setup.model);
  const Recipe& recipe = model.settings();
  const CompileFor wanted = compiled_for(options, model);
  const int64_t batch = batch_of(options.setup, recipe);
  const int64_t updates = updates_of(options.setup, recipe, wanted.epochs, wanted.samples);
  const Graph graph = model.graph_with_weights(options.weights);
  const TrainerOptions trainer = with_chosen_channels(
      with_pipeline(trainer_options(options.setup, recipe, updates), wanted.samples, graph), graph,
      "", [&] { return DataSource(model, options.data).train(); });
  const CompiledTraining compiled(graph, trainer, wanted);
  compiled.save(options.out);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(options.out));
  const Plan& plan = compiled.plan();
  if (options.json) {
    print_json({{"file", options.out},
                {"bytes", bytes},
                {"recipe", model.name()},
                {"batch", batch},
                {"samples", wanted.samples},
                {"test_samples", wanted.test_samples},
                {"epochs", wanted.epochs},
                {"planned_peak_bytes", plan.planned_peak_bytes},
                {"input_pipeline_bytes", plan.input_pipeline_bytes}});
    return kOk;
  }
  fmt::print("{}written to {}: {}, for {}, batch {}\n", plan.text(), options.out,
             format_bytes(bytes), text_of(wanted), batch);
  fmt::print("of other numbers of samples, training leaves out those that fill no batch of {}\n",
             batch);
  return kOk;
}

}  // namespace

void add_compile(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompileArguments>();
  CLI::App* command = app.add_subcommand(
      "compile", "Plan a model's training and write it as a program that trains without planning");
  options->setup.add_to(*command);
  options->data.add_to(*command);
  options->data.add_limit_train_to(*command);
  command
      ->add_option(
          "--samples", options->samples,
          "training samples that the program will see [those of the data; where a model file "
          "has none, 1000 in whole batches]")
      ->check(whole_number(1, kMostSamples))
      ->type_name("N");
  command
      ->add_option(
          "--test-samples", options->test_samples,
          "test samples that the program will see [those of the data; where a model file has "
          "none, full batches alone]")
      ->check(whole_number(1, kMostSamples))
      ->type_name("N");
  command
      ->add_option("--epochs", options->epochs,
                   "passes over the training data, over which a schedule stretches "
                   "[the recipe's; of other models 10]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--weights", options->weights,
                   "checkpoint or model file whose weights the training begins with [those of the "
                   "model file; of a recipe new weights]")
      ->type_name("FILE");
  command->add_flag("--predict", options->predict, "the program also predicts the model's outputs");
  command->add_option("-o,--out", options->out, "the program file")->required()->type_name("FILE");
  command->add_flag("--json", options->json, "print one JSON object");
  command->footer(
      "Examples:\n  thimble compile vae --memory-budget 1MiB -o step.thimble\n"
      "  thimble train step.thimble --epochs 5");
  command->callback([options, &action] { action = [options] { return compile(*options); }; });
}

}  // namespace thimble::cli
