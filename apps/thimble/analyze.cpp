#include <fmt/format.h>
#include <thimble/scheme_search.h>
#include <thimble/thimble.h>

#include <cmath>
#include <limits>
#include <memory>

#include "commands.h"
#include "console.h"
#include "data_source.h"
#include "io/atomic_file.h"
#include "io/html/charts.h"
#include "model.h"
#include "options.h"
#include "scheme_trainings.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct AnalyzeArguments {
  SetupOptions setup;
  DataOptions data;
  AnalyzeOptions analyze;
  std::string weights;
  std::string out;
  std::string report;
  bool json = false;
};

void write(const std::string& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

io::ChartPage page_of(const Contributions& found, const std::string& name, const char* data,
                      const std::vector<double>& ratios) {
  io::ChartPage page{.title = fmt::format("What parts of {} add when they are trained", name),
                     .facts = {{"score", found.metric},
                               {"samples", data},
                               {"last layer alone", fmt::format("{:.4f}", found.base)}}};
  io::PointChart biases{
      .title = "Biases",
      .caption = "What the biases of the last layers add to the last layer alone.",
      .x_label = "layers whose biases are trained",
      .y_label = "gain"};
  for (const Contributions::Biases& part : found.biases) {
    biases.points.push_back({static_cast<double>(part.last), found.gain(part),
                             fmt::format("{} layers: {:+.4f}", part.last, found.gain(part))});
  }
  page.points.push_back(std::move(biases));
  io::BarChart weights{.title = "Weights",
                       .caption =
                           "What the weights of one layer add to the biases down to it, by "
                           "the ratio of its input channels that is trained."};
  for (const double ratio : ratios) weights.series.push_back(fmt::format("{:g}", ratio));
  for (const Contributions::Weights& part : found.weights) {
    if (weights.rows.empty() || weights.rows.back().label != part.layer) {
      weights.rows.push_back({part.layer, std::vector<double>(ratios.size(), NAN)});
    }
    for (size_t i = 0; i < ratios.size(); ++i) {
      if (ratios[i] == part.ratio) weights.rows.back().values[i] = found.gain(part);
    }
  }
  page.bars.push_back(std::move(weights));
  return page;
}

int run_analyze(const AnalyzeArguments& arguments) {
  const Model model(arguments.setup.model);
  const Graph graph = model.graph_with_weights(model.weights(arguments.weights));
  DataSource source(model, arguments.data);
  const data::Dataset train = source.train();
  const data::Dataset test = source.test();
  AnalyzeOptions options = arguments.analyze;
  const int64_t updates =
      updates_of(arguments.setup, model.settings(), options.epochs, train.size());
  options.training = trainer_options(arguments.setup, model.settings(), updates);
  if (options.cache.empty()) options.cache = arguments.out + ".trainings";
  catch_interrupt();
  Contributions found;
  const auto work = [&] { found = analyze(graph, train, test, options); };
  if (!run_trainings(options, "analyzing", work)) return kStopped;
  write(arguments.out, found.text());
  if (!arguments.report.empty()) {
    write(arguments.report,
          io::chart_page_html(page_of(found, model.name(), source.name(), options.ratios)));
  }
  if (arguments.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::parse(found.text());
    json["recipe"] = model.name();
    json["file"] = arguments.out;
    print_json(json);
    return kOk;
  }
  fmt::print("{} of {} with {} alone: {:.4f}\n", found.metric, model.name(), found.last_layer,
             found.base);
  for (const Contributions::Biases& part : found.biases) {
    fmt::print("biases of {:>3} layers {:+.4f}\n", part.last, found.gain(part));
  }
  size_t width = 0;
  for (const Contributions::Weights& part : found.weights)
    width = std::max(width, part.layer.size());
  for (const Contributions::Weights& part : found.weights) {
    fmt::print("{:<{}} {:<6g} {:+.4f}\n", part.layer, width, part.ratio, found.gain(part));
  }
  fmt::print("in {}{}\n", arguments.out,
             arguments.report.empty() ? "" : ", drawn in " + arguments.report);
  return kOk;
}

}  // namespace

void add_analyze(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnalyzeArguments>();
  CLI::App* command = app.add_subcommand(
      "analyze", "Train each part of a network by itself, and write what it adds");
  options->setup.add_to(*command);
  options->data.add_to(*command);
  options->data.add_limit_train_to(*command);
  command->add_option("--epochs", options->analyze.epochs, "of each training [1]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--metric", options->analyze.metric,
                   "of the test samples, where more is better; loss counts negative [accuracy, of "
                   "models without it loss]")
      ->type_name("NAME");
  command
      ->add_option("--ratio", options->analyze.ratios,
                   "ratios of a layer's input channels that are tried [0.125,0.25,0.5,1]")
      ->delimiter(',')
      ->type_name("X,...");
  command
      ->add_option("--layer", options->analyze.layers,
                   "layers whose weights are tried, by patterns such as 'conv*'; may be given more "
                   "than once [all]")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--most-biases", options->analyze.most_biases,
          "the biases of at most so many last layers are tried, and those on which weights "
          "are [of all]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--weights", options->weights,
                   "trained weights [those of the model file; of a recipe "
                   "out/RECIPE/checkpoint.safetensors]")
      ->type_name("FILE");
  command
      ->add_option("--cache", options->analyze.cache,
                   "finished trainings, which are not made again [that of --out with .trainings]")
      ->type_name("FILE");
  command->add_option("-o,--out", options->out, "file for what the parts add, for thimble search")
      ->required()
      ->type_name("FILE");
  command->add_option("--report", options->report, "a page that draws it [none]")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n"
      "  thimble analyze lenet5 --optimizer sgd --lr 0.01 -o parts.json --report parts.html\n"
      "  thimble search lenet5 --optimizer sgd --parts parts.json --memory-budget 2MiB \\\n"
      "    -o scheme.json");
  command->callback([&action, options] { action = [options] { return run_analyze(*options); }; });
}

}  // namespace thimble::cli
