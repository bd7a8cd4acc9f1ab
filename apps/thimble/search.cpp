#include <fmt/format.h>
#include <thimble/instruction_model.h>
#include <thimble/scheme_search.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "choice.h"
#include "commands.h"
#include "console.h"
#include "cores.h"
#include "data_source.h"
#include "io/atomic_file.h"
#include "io/html/charts.h"
#include "model.h"
#include "options.h"
#include "scheme_trainings.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct SearchArguments {
  SetupOptions setup;
  SchemeSearchOptions search;
  InstructionLimit limit;  // of 0 instructions: none
  std::string parts;
  // Trainings of whole schemes.
  std::optional<int64_t> verify;  // candidates that are searched
  std::vector<std::string> candidates;
  DataOptions data;
  AnalyzeOptions trainings;
  int64_t train_batch = 0;  // 0: that of the setup
  int64_t seeds = 1;
  std::string weights;
  std::string out;
  std::string report;
  bool json = false;

  [[nodiscard]] int64_t searched_candidates() const {
    constexpr int64_t kWithData = 8;
    return verify.value_or(data.path.empty() && candidates.empty() ? 0 : kWithData);
  }
};

// A search, in the limits of the command line, whose memory budget changes.
class Search {
 public:
  Search(const Graph& graph, const Contributions& parts, const InstructionLimit& limit)
      : graph_(graph), parts_(parts), limit_(limit) {}

  [[nodiscard]] FoundScheme within(const SchemeSearchOptions& options) const {
    return is_limited() ? search_scheme(graph_, parts_, options, limit_)
                        : search_scheme(graph_, parts_, options);
  }
  [[nodiscard]] bool is_limited() const { return limit_.instructions > 0.0; }

 private:
  const Graph& graph_;
  const Contributions& parts_;
  InstructionLimit limit_;
};

nlohmann::ordered_json json_of(const FoundScheme& found) {
  return {{"scheme", nlohmann::ordered_json::parse(found.scheme.text())},
          {"gain", found.gain},
          {"bytes", found.bytes},
          {"is_best", found.is_best}};
}

// What trains a found scheme and its candidates.
struct Trainings {
  Graph graph;
  data::Dataset train;
  data::Dataset test;
  AnalyzeOptions options;
};

Trainings trainings_of(const SearchArguments& arguments, const Model& model) {
  DataSource source(model, arguments.data);
  Trainings made{.graph = model.graph_with_weights(model.weights(arguments.weights)),
                 .train = source.train(),
                 .test = source.test(),
                 .options = arguments.trainings};
  SetupOptions setup = arguments.setup;
  setup.memory_budget.reset();
  if (arguments.train_batch > 0) setup.batch = arguments.train_batch;
  AnalyzeOptions& options = made.options;
  options.training =
      trainer_options(setup, model.settings(),
                      updates_of(setup, model.settings(), options.epochs, made.train.size()));
  if (options.cache.empty()) options.cache = arguments.parts + ".trainings";
  return made;
}

// The best one of found and its candidates, by training them; nothing if that was interrupted.
std::optional<FoundScheme> verified(Trainings& trainings, const FoundScheme& found, int64_t seeds) {
  FoundScheme best;
  const auto work = [&] {
    best = verify_scheme(trainings.graph, found, trainings.train, trainings.test, trainings.options,
                         seeds);
  };
  if (!run_trainings(trainings.options, "training", work)) return std::nullopt;
  return best;
}

// Schemes for budgets from the least that works to the given one.
std::vector<FoundScheme> pareto_of(const Search& search, SchemeSearchOptions options,
                                   const FoundScheme& best) {
  constexpr int kPoints = 8;
  std::vector<FoundScheme> all;
  FoundScheme next = best;
  // Each next one must take less than the one before.
  while (static_cast<int>(all.size()) < kPoints) {
    all.push_back(next);
    options.memory_budget = next.bytes - std::max<int64_t>(1, best.bytes / 40);
    try {
      next = search.within(options);
    } catch (const Error&) {
      break;  // even the last layer alone takes more
    }
  }
  return all;
}

// Of the sum; a scheme of the user has none.
std::string gain_of(const FoundScheme& found) {
  return std::isnan(found.gain) ? "unknown" : fmt::format("{:.4f}", found.gain);
}

// Scores of a verified scheme and its candidates.
io::BarChart scores_of(const FoundScheme& best) {
  io::BarChart chart{
      .title = "Candidates",
      .caption = "Scores of trainings of whole schemes. The first one is the result.",
      .series = {"score"}};
  const auto add = [&chart](const FoundScheme& scheme) {
    const std::string number = fmt::format("scheme {}", chart.rows.size() + 1);
    chart.caption += fmt::format(" {}: {}.", number, scheme.scheme.text());
    chart.rows.push_back({number, {*scheme.score}});
  };
  add(best);
  for (const FoundScheme& other : best.others) add(other);
  return chart;
}

// all: of each budget by the sum of gains; best: the result.
void write_report(const std::string& path, const std::string& name, int64_t budget,
                  const std::vector<FoundScheme>& all, const FoundScheme& best) {
  io::ChartPage page{.title = fmt::format("Sparse updates of {}", name),
                     .facts = {{"budget", format_bytes(budget)},
                               {"planned peak", format_bytes(best.bytes)},
                               {"gain", gain_of(best)}}};
  if (best.score) page.facts.emplace_back("score", fmt::format("{:.4f}", *best.score));
  io::PointChart chart{
      .title = "Gain and memory",
      .caption =
          "The best scheme of each budget: the sum of what its parts add, and the planned "
          "peak of its step. Marked is that of the largest sum within the given budget: " +
          all[0].scheme.text(),
      .x_label = "planned peak, KiB",
      .y_label = "sum of gains"};
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    chart.points.push_back(
        {static_cast<double>(one->bytes) / 1024.0, one->gain,
         fmt::format("{}: {:.4f}, {}", format_bytes(one->bytes), one->gain, one->scheme.text()),
         one + 1 == all.rend()});
  }
  page.points.push_back(std::move(chart));
  if (best.score) page.bars.push_back(scores_of(best));
  io::AtomicFile file(path);
  file.write(io::chart_page_html(page));
  file.commit();
}

// instructions: of a step.
void print_found(const SearchArguments& arguments, const std::string& name,
                 const FoundScheme& found, double instructions) {
  const char* core = name_of(arguments.limit.core);
  if (arguments.json) {
    nlohmann::ordered_json json = json_of(found);
    json["plans"] = found.evaluations;
    json["recipe"] = name;
    json["file"] = arguments.out;
    json["core"] = core;
    json["instructions"] = instructions;
    if (found.score) {
      json["score"] = *found.score;
      auto& others = json["others"] = nlohmann::ordered_json::array();
      for (const FoundScheme& other : found.others) {
        others.push_back(json_of(other));
        others.back()["score"] = *other.score;
      }
    }
    print_json(json);
    return;
  }
  fmt::print("{}\n", found.scheme.text());
  const char* rank = "the best found";
  if (found.score) rank = "of the best score";
  if (found.is_best) rank = found.score ? "of the best score and gain" : "proved the best";
  fmt::print(
      "{} within {}, about {:.2f} million instructions a step on {}, {} after {} plans; in {}\n",
      std::isnan(found.gain) ? "yours" : "gain " + gain_of(found), format_bytes(found.bytes),
      instructions / 1e6, core, rank, found.evaluations, arguments.out);
  if (!found.score) return;
  fmt::print("score {:.4f}; {}\n", *found.score,
             found.others.empty() ? "no other scheme fits" : "of the other schemes:");
  for (const FoundScheme& other : found.others) {
    fmt::print("{:.4f} within {}: {}\n", *other.score, format_bytes(other.bytes),
               other.scheme.text());
  }
}

int run_search(const SearchArguments& arguments) {
  const Model model(arguments.setup.model);
  const Contributions parts = Contributions::load(arguments.parts);
  SchemeSearchOptions options = arguments.search;
  if (!arguments.setup.memory_budget) {
    throw UsageError(Error("search", "a budget is missing; give --memory-budget SIZE"));
  }
  SetupOptions setup = arguments.setup;
  options.memory_budget = from_command_line([&] { return parse_bytes(*setup.memory_budget); });
  setup.memory_budget.reset();  // a plan without a budget: its peak is what the budget is for
  setup.schedule.reset();       // changes no plan, and a plan has a single step
  options.training = trainer_options(setup, model.settings(), 1);
  catch_interrupt();
  ProgressBar bar;
  options.on_progress = [&bar, &options](int64_t plans) {
    bar.show(plans, options.evaluations, "searching", fmt::format("{} plans", plans));
    return !interrupted();
  };
  const int64_t candidates = arguments.searched_candidates();
  options.others = std::max<int64_t>(candidates - 1, 0);
  for (const std::string& path : arguments.candidates) {
    options.given.push_back(UpdateScheme::load(path));
  }
  if (candidates == 0 && !options.given.empty()) {
    throw UsageError(
        Error("search", "--candidate compares by training: give it a --verify above 0"));
  }
  std::optional<Trainings> trainings;
  if (candidates > 0) {
    trainings = trainings_of(arguments, model);
    parts.require_settings(trainings->graph, trainings->options);
  }
  const Search search(model.graph(), parts, arguments.limit);
  const FoundScheme by_gains = search.within(options);
  FoundScheme found = by_gains;
  if (trainings && !interrupted()) {
    bar.clear();
    const std::optional<FoundScheme> best = verified(*trainings, by_gains, arguments.seeds);
    if (!best) return kStopped;
    found = *best;
  }
  TrainerOptions training = options.training;
  training.scheme = found.scheme;
  const double instructions =
      predict_instructions(model.graph(), training, arguments.limit.core).total();
  if (!arguments.report.empty() && !interrupted()) {
    options.others = 0;
    options.given.clear();
    write_report(arguments.report, model.name(), options.memory_budget,
                 pareto_of(search, options, by_gains), found);
  }
  bar.clear();
  io::AtomicFile file(arguments.out);
  file.write(found.scheme.text() + "\n");
  file.commit();
  if (interrupted()) {
    note(fmt::format("stopped after {} plans; the best scheme so far is in {}", found.evaluations,
                     arguments.out));
    return kStopped;
  }
  print_found(arguments, model.name(), found, instructions);
  return kOk;
}

}  // namespace

void add_search(CLI::App& app, Action& action) {
  auto options = std::make_shared<SearchArguments>();
  CLI::App* command =
      app.add_subcommand("search", "Find the sparse update that adds most within a memory budget");
  options->setup.add_to(*command);
  command->add_option("--parts", options->parts, "what the parts add, written by thimble analyze")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--instructions", options->limit.instructions,
                   "most instructions of a step on the core, as predicted for C of thimble "
                   "export-c [no limit]")
      ->check(above_zero())
      ->type_name("N");
  choice(*command, "--core", options->limit.core, kCores,
         "the core that instructions are counted for [m7]");
  command->add_flag("--frozen-in-flash", options->search.frozen_in_flash,
                    "plan the step as C of thimble export-c: with reference kernels, and what no "
                    "step changes lies in flash and does not count");
  command
      ->add_option("--plans", options->search.evaluations,
                   "plans before the exact search is cut short, and an evolutionary one makes as "
                   "many again [2000]")
      ->check(whole_number(1))
      ->type_name("N");
  options->data.add_to(*command);
  options->data.add_limit_train_to(*command);
  command
      ->add_option("--verify", options->verify,
                   "train so many schemes of high gains, and take the one of the best score "
                   "[8 with --data or --candidate, else 0]")
      ->check(whole_number(0))
      ->type_name("K");
  command
      ->add_option("--candidate", options->candidates,
                   "a scheme of yours to train beside them; may be given more than once [none]")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_option("--epochs", options->trainings.epochs, "of each training of --verify [1]")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_option("--train-batch", options->train_batch, "of these trainings [that of --batch]")
      ->check(whole_number(1))
      ->type_name("N");
  command
      ->add_option("--seeds", options->seeds,
                   "trainings of each scheme, with as many seeds from --seed on, whose mean score "
                   "counts [1]")
      ->check(whole_number(1, 1000))
      ->type_name("N");
  command
      ->add_option("--metric", options->trainings.metric,
                   "of the test samples, as for thimble analyze [accuracy, of models without it "
                   "loss]")
      ->type_name("NAME");
  command
      ->add_option("--weights", options->weights,
                   "trained weights, as for thimble analyze [those of the model file; of a recipe "
                   "out/RECIPE/checkpoint.safetensors]")
      ->type_name("FILE");
  command
      ->add_option("--cache", options->trainings.cache,
                   "finished trainings, which are not made again [that of --parts with .trainings]")
      ->type_name("FILE");
  command->add_option("-o,--out", options->out, "the scheme to write, for --scheme")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--report", options->report,
                   "a page that draws the best schemes of smaller budgets, too [none]")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n"
      "  thimble search lenet5 --optimizer sgd --parts parts.json --memory-budget 2MiB \\\n"
      "    -o scheme.json --report scheme.html\n"
      "  thimble search lenet5 --optimizer sgd --lr 0.01 --parts parts.json --memory-budget 2MiB "
      "\\\n"
      "    -o scheme.json --verify 8");
  command->callback([&action, options] { action = [options] { return run_search(*options); }; });
}

}  // namespace thimble::cli
