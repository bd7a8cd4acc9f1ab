#include <fmt/format.h>
#include <thimble/thimble.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "class_scores.h"
#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "ir/graph.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct EvalArguments {
  std::string model;
  std::string checkpoint;
  DataOptions data;
  int64_t batch = 0;
  int threads = 0;
  bool reference_kernels = false;
  std::vector<std::string> scores;
  bool json = false;
};

int run_eval(const EvalArguments& options) {
  const Model model(options.model);
  require_loss(model, "evaluation measures");
  const Recipe& settings = model.settings();
  const std::string weights = model.weights(options.checkpoint);
  DataSource source(model, options.data);
  const data::Dataset samples = source.test();
  Graph graph;
  graph.ir() = model.graph().ir();
  add_class_scores(graph, options.scores);
  Evaluator evaluator(graph, {.weights = weights,
                              .batch = options.batch > 0 ? options.batch : settings.batch,
                              .threads = options.threads,
                              .outputs = class_score_outputs(options.scores),
                              .reference_kernels = options.reference_kernels});
  std::map<std::string, Array> outputs;
  Evaluation test = evaluator.evaluate(samples, &outputs);
  finish_class_scores(options.scores, outputs, test.metrics);
  const auto matrix = confusion_counts(options.scores, outputs);
  if (options.json) {
    nlohmann::ordered_json report = {{"recipe", model.name()},
                                     {"samples", test.samples},
                                     {"test_loss", test.loss},
                                     {"metrics", test.metrics},
                                     {"planned_peak_bytes", evaluator.plan().planned_peak_bytes}};
    if (!matrix.empty()) report["confusion"] = matrix;
    print_json(report);
    return kOk;
  }
  fmt::print("{} test samples of {}: loss {:.6g}", test.samples, source.name(), test.loss);
  for (const auto& [name, value] : test.metrics) fmt::print(", {} {:.6g}", name, value);
  fmt::print("\n");
  if (!matrix.empty()) fmt::print("samples by label (row) and predicted class (column):\n");
  for (const std::vector<int64_t>& row : matrix) fmt::print("{:>7}\n", fmt::join(row, " "));
  return kOk;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvalArguments>();
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate a model file or checkpoint on the test data");
  add_model(*command, options->model);
  add_checkpoint(*command, options->checkpoint);
  options->data.add_to(*command);
  command
      ->add_option("--batch", options->batch,
                   "samples in one step [the recipe's; of other models 32]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--scores", options->scores,
                   "of a classifier, over all samples: precision, recall, f1 (means over the "
                   "classes), top5, roc_auc, confusion (how many samples of each class are taken "
                   "for which) [none]")
      ->delimiter(',')
      ->check(CLI::Validator(CLI::IsMember(class_score_names())).description(""))
      ->type_name("LIST");
  add_threads(*command, options->threads);
  add_reference_kernels(*command, options->reference_kernels);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer("Example:\n  thimble eval lenet5 --checkpoint out/lenet5/checkpoint.safetensors");
  command->callback([&action, options] { action = [options] { return run_eval(*options); }; });
}

}  // namespace thimble::cli
