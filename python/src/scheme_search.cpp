// Finding a sparse update: what parts of a network add, and the best of them within a budget.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <thimble/instruction_model.h>
#include <thimble/scheme_search.h>

#include <optional>
#include <tuple>

#include "array_batches.h"
#include "bindings.h"

namespace thimble::python {
namespace {

using Settings = std::map<std::string, std::string>;
// Scheme as JSON, gain, bytes, whether it is the best, score.
using Scheme = std::tuple<std::string, double, int64_t, bool, std::optional<double>>;
// The first one is the result, the others are candidates.
using Found = std::tuple<std::vector<Scheme>, int64_t, Settings>;

Core core_of(const std::string& name) {
  if (name == "m4") return Core::cortex_m4;
  if (name == "m7") return Core::cortex_m7;
  if (name == "m55") return Core::cortex_m55;
  throw Error("core", "expected one of m4, m7, m55, got \"" + name + "\"");
}

// Calls a function of Python, or None; what it raises ends the trainings, and so does True.
std::function<bool(const AnalyzeProgress&)> progress_of(const nb::object& function) {
  return [function = function.ptr()](const AnalyzeProgress& now) {
    check_signals();
    const nb::gil_scoped_acquire acquire;
    const nb::handle call(function);
    if (call.is_none()) return true;
    const nb::object answer =
        call(nb::make_tuple(now.done, now.total, now.scheme, now.score, now.seconds_left));
    return !answer.is(nb::bool_(true));
  };
}

std::string analyzed(const Graph& graph, const TrainerOptions& options, const data::Dataset& train,
                     const data::Dataset& test, int64_t epochs, const std::string& metric,
                     const std::vector<double>& ratios, const std::vector<std::string>& layers,
                     int64_t most_biases, const std::string& cache, const nb::object& on_progress) {
  const AnalyzeOptions analysis{.training = options,
                                .epochs = epochs,
                                .metric = metric,
                                .ratios = ratios,
                                .layers = layers,
                                .most_biases = most_biases,
                                .cache = cache,
                                .on_progress = progress_of(on_progress)};
  const nb::gil_scoped_release release;
  return analyze(graph, train, test, analysis).text();
}

Scheme scheme_of(const FoundScheme& found) {
  return {found.scheme.text(), found.gain, found.bytes, found.is_best, found.score};
}

Found found_of(const FoundScheme& found) {
  std::vector<Scheme> all{scheme_of(found)};
  for (const FoundScheme& other : found.others) all.push_back(scheme_of(other));
  return {std::move(all), found.evaluations, found.settings};
}

Found searched(const Graph& graph, const std::string& contributions, const TrainerOptions& options,
               int64_t memory_budget, bool frozen_in_flash, int64_t plans, int64_t others,
               const std::vector<std::string>& given, double instructions,
               const std::string& core) {
  SchemeSearchOptions search{.training = options,
                             .memory_budget = memory_budget,
                             .frozen_in_flash = frozen_in_flash,
                             .evaluations = plans,
                             .others = others};
  for (const std::string& text : given) {
    search.given.push_back(UpdateScheme::parse(text, "candidates"));
  }
  search.on_progress = [](int64_t) {
    check_signals();
    return true;
  };
  const InstructionLimit limit{core_of(core), instructions};
  const nb::gil_scoped_release release;
  const Contributions parts = Contributions::parse(contributions, "parts");
  return found_of(instructions > 0.0 ? search_scheme(graph, parts, search, limit)
                                     : search_scheme(graph, parts, search));
}

Found verified(const Graph& graph, const Found& found, const TrainerOptions& options,
               const data::Dataset& train, const data::Dataset& test, int64_t epochs,
               const std::string& metric, const std::string& cache, int64_t trainings,
               const nb::object& on_progress) {
  const AnalyzeOptions analysis{.training = options,
                                .epochs = epochs,
                                .metric = metric,
                                .cache = cache,
                                .on_progress = progress_of(on_progress)};
  const auto& [schemes, evaluations, settings] = found;
  std::vector<FoundScheme> all;
  for (const auto& [text, gain, bytes, is_best, score] : schemes) {
    FoundScheme one;
    one.scheme = UpdateScheme::parse(text, "scheme");
    one.gain = gain;
    one.bytes = bytes;
    one.is_best = is_best;
    all.push_back(std::move(one));
  }
  if (all.empty()) throw Error("verify_scheme", "there is no scheme to train");
  FoundScheme first = all.front();
  first.others.assign(all.begin() + 1, all.end());
  first.evaluations = evaluations;
  first.settings = settings;
  const nb::gil_scoped_release release;
  return found_of(verify_scheme(graph, first, train, test, analysis, trainings));
}

double predicted(const Graph& graph, const TrainerOptions& options, const std::string& core) {
  return predict_instructions(graph, options, core_of(core)).total();
}

constexpr const char* kFound =
    "tuple[list[tuple[str, float, int, bool, float | None]], int, dict[str, str]]";

}  // namespace

void bind_scheme_search(nb::module_& m) {
  static const std::string search =
      std::string(
          "def search_scheme(graph: Graph, parts: str, options: TrainerOptions, "
          "memory_budget: int, frozen_in_flash: bool, plans: int, others: int, "
          "given: list[str], instructions: float, core: str) -> ") +
      kFound;
  static const std::string verify =
      std::string("def verify_scheme(graph: Graph, found: ") + kFound +
      ", options: TrainerOptions, train: Dataset, test: Dataset, epochs: int, metric: str, cache: "
      "str, trainings: int, on_progress: object) -> " +
      kFound;
  m.def("analyze", &analyzed, nb::arg("graph"), nb::arg("options"), nb::arg("train"),
        nb::arg("test"), nb::arg("epochs"), nb::arg("metric"), nb::arg("ratios"), nb::arg("layers"),
        nb::arg("most_biases"), nb::arg("cache"), nb::arg("on_progress").none());
  m.def(
      "load_contributions",
      [](const std::string& path) {
        return from_file(path, [&] { return Contributions::load(path).text(); });
      },
      nb::arg("path"));
  m.def("search_scheme", &searched, nb::arg("graph"), nb::arg("parts"), nb::arg("options"),
        nb::arg("memory_budget"), nb::arg("frozen_in_flash"), nb::arg("plans"), nb::arg("others"),
        nb::arg("given"), nb::arg("instructions"), nb::arg("core"), nb::sig(search.c_str()));
  m.def("verify_scheme", &verified, nb::arg("graph"), nb::arg("found"), nb::arg("options"),
        nb::arg("train"), nb::arg("test"), nb::arg("epochs"), nb::arg("metric"), nb::arg("cache"),
        nb::arg("trainings"), nb::arg("on_progress").none(), nb::sig(verify.c_str()));
  m.def("predict_instructions", &predicted, nb::arg("graph"), nb::arg("options"), nb::arg("core"),
        nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace thimble::python
