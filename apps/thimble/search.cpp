#include <fmt/format.h>
#include <thimble/instruction_model.h>
#include <thimble/scheme_search.h>
#include <thimble/thimble.h>

#include <memory>
#include <optional>

#include "choice.h"
#include "commands.h"
#include "console.h"
#include "cores.h"
#include "io/atomic_file.h"
#include "io/html/charts.h"
#include "model.h"
#include "options.h"
#include "training_setup.h"

namespace thimble::cli {
namespace {

struct SearchArguments {
  SetupOptions setup;
  SchemeSearchOptions search;
  InstructionLimit limit;  // of 0 instructions: none
  std::string parts;
  std::string out;
  std::string report;
  bool json = false;
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
          {"is_best", found.is_best},
          {"plans", found.evaluations}};
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

void write_report(const std::string& path, const std::string& name, int64_t budget,
                  const std::vector<FoundScheme>& all) {
  io::ChartPage page{.title = fmt::format("Sparse updates of {}", name),
                     .facts = {{"budget", format_bytes(budget)},
                               {"planned peak", format_bytes(all[0].bytes)},
                               {"gain", fmt::format("{:.4f}", all[0].gain)}}};
  io::PointChart chart{
      .title = "Gain and memory",
      .caption =
          "The best scheme of each budget: the sum of what its parts add, and the planned "
          "peak of its step. Marked is that of the given budget: " +
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
  io::AtomicFile file(path);
  file.write(io::chart_page_html(page));
  file.commit();
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
  options.training = trainer_options(setup, model.settings(), 1);
  catch_interrupt();
  ProgressBar bar;
  options.on_progress = [&bar, &options](int64_t plans) {
    bar.show(plans, options.evaluations, "searching", fmt::format("{} plans", plans));
    return !interrupted();
  };
  const Search search(model.graph(), parts, arguments.limit);
  const FoundScheme found = search.within(options);
  TrainerOptions training = options.training;
  training.scheme = found.scheme;
  const double instructions =
      predict_instructions(model.graph(), training, arguments.limit.core).total();
  if (!arguments.report.empty() && !interrupted()) {
    write_report(arguments.report, model.name(), options.memory_budget,
                 pareto_of(search, options, found));
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
  if (arguments.json) {
    nlohmann::ordered_json json = json_of(found);
    json["recipe"] = model.name();
    json["file"] = arguments.out;
    json["core"] = name_of(arguments.limit.core);
    json["instructions"] = instructions;
    print_json(json);
    return kOk;
  }
  fmt::print(
      "{}\ngain {:.4f} within {}, about {:.2f} million instructions a step on {}, {} after {} "
      "plans; in {}\n",
      found.scheme.text(), found.gain, format_bytes(found.bytes), instructions / 1e6,
      name_of(arguments.limit.core), found.is_best ? "proved the best" : "the best found",
      found.evaluations, arguments.out);
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
      "    -o scheme.json --report scheme.html");
  command->callback([&action, options] { action = [options] { return run_search(*options); }; });
}

}  // namespace thimble::cli
