// A training step of the recipes in f32, bf16 and f16: its peak memory and its time. The three
// alternate in rounds on the built-in data; the fastest round of each counts.
#include <fmt/format.h>
#include <thimble/thimble.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace thimble;
using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> recipes;
  int rounds = 3;
  double seconds = 2.0;  // of a round, for each precision
  int threads = 1;
  bool plan_only = false;
};

struct Side {
  DType precision;
  std::unique_ptr<Trainer> trainer;
  std::vector<double> medians;    // of the rounds, ms
  std::vector<double> processor;  // time of a step in the rounds, reading samples included, ms
};

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

TrainerOptions options_for(const Recipe& recipe, DType precision, const Options& options) {
  return {.optimizer = recipe.optimizer(),
          .ema_decay = recipe.ema_decay,
          .batch = recipe.batch,
          .precision = precision,
          .seed = 0,
          .threads = options.threads};
}

double least(const std::vector<double>& rounds) {
  return *std::min_element(rounds.begin(), rounds.end());
}

void time_rounds(const Recipe& recipe, std::vector<Side>& sides, const Options& options) {
  const data::Dataset samples = recipe.data("", data::Split::train);
  for (int round = 0; round < options.rounds; ++round) {
    for (Side& side : sides) {
      const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
      const int64_t before = side.trainer->steps();
      const std::clock_t start = std::clock();
      const FitResult result = side.trainer->fit(
          samples, {.epochs = 1 << 20, .prefetch = 0, .stop = [&] { return Clock::now() >= end; }});
      const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      side.medians.push_back(result.ms_per_step_median);
      side.processor.push_back(1e3 * spent / static_cast<double>(side.trainer->steps() - before));
    }
  }
}

void report(const Recipe& recipe, const Options& options) {
  std::vector<Side> sides;
  for (const DType precision : {DType::f32, DType::bf16, DType::f16}) {
    sides.push_back(
        {precision,
         std::make_unique<Trainer>(recipe.build(), options_for(recipe, precision, options)),
         {},
         {}});
  }
  if (!options.plan_only) time_rounds(recipe, sides, options);
  for (Side& side : sides) {
    const Plan plan = side.trainer->plan();
    std::string line =
        fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} |", recipe.name, recipe.batch,
                    to_string(side.precision), mib(plan.planned_peak_bytes), mib(plan.arena_bytes),
                    mib(plan.workspace_bytes));
    if (!side.medians.empty()) {
      line += fmt::format(" {:.3g} | {:.3g} |", least(side.medians), least(side.processor));
    }
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A step of training in f32, bf16 and f16.");
  Options options;
  app.add_option("recipes", options.recipes, "names [all]");
  app.add_option("--rounds", options.rounds, "rounds, each with all three types");
  app.add_option("--seconds", options.seconds, "of a round, for each type");
  app.add_option("--threads", options.threads, "0: one per processor");
  app.add_flag("--plan-only", options.plan_only, "print bytes, without times");
  CLI11_PARSE(app, argc, argv);
  if (options.recipes.empty()) {
    for (const Recipe& recipe : recipes()) options.recipes.emplace_back(recipe.name);
  }
  fmt::print(
      "| recipe | batch | type | peak, MiB | arena | largest workspace | median "
      "step, ms | processor, ms |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n");
  try {
    for (const std::string& name : options.recipes) report(find_recipe(name), options);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
