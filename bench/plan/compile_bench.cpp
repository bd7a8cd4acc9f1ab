// Cost of compiling the training steps of our recipes, of gpt with 24 layers, and of a residual
// network of 40 blocks, where recomputation can multiply the work most. Reports processor seconds
// of every stage on one thread and the peak of live bytes before and after it, then of whole plans
// with all strategies within budgets. Each figure is from one run.
#include <fmt/format.h>
#include <thimble/thimble.h>

#include <array>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "passes/passes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "recipes/gpt.h"
#include "train/compile.h"

namespace {

using namespace thimble;

double seconds(const std::function<void()>& run) {
  const std::clock_t start = std::clock();
  run();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

double mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

struct Step {
  std::string name;
  Graph model;
  Optimizer optimizer;
  int64_t batch;
};

Graph residual_network() {
  Graph g;
  Value x = g.input("x", {16});
  for (int i = 0; i < 40; ++i) x = relu(dense(x, {.units = 16})) + x;
  g.minimize(softmax_cross_entropy(dense(x, {.units = 10}), g.label("class")));
  return g;
}

std::vector<Step> all_steps() {
  std::vector<Step> steps;
  for (const Recipe& recipe : recipes()) {
    steps.push_back({fmt::format("{}, batch {}", recipe.name, recipe.batch), recipe.build(),
                     recipe.optimizer(), recipe.batch});
  }
  steps.push_back(
      {"gpt of 24 layers, batch 4", models::gpt_graph(24), find_recipe("gpt").optimizer(), 4});
  steps.push_back({"residual network of 40 blocks, batch 8", residual_network(), AdamW{}, 8});
  return steps;
}

void report_stages(const Step& of) {
  const plan::ArenaOptions options;
  ir::Graph step;
  ir::Graph ordered;
  ir::Graph recomputed;
  ir::Graph halved;
  plan::Arena arena;
  const double building = seconds([&] {
    step = passes::optimize(train::training_graph(of.model.ir(),
                                                  {.optimizer = of.optimizer, .batch = of.batch},
                                                  of.batch, train::StepKind::update));
  });
  const double ordering = seconds([&] { ordered = plan::order_nodes(step, options); });
  const double recomputing = seconds(
      [&] { recomputed = plan::recompute(plan::orders_of(step, options), {.arena = options}); });
  const double packing = seconds([&] { arena = plan::plan_arena(recomputed, options); });
  const int64_t half = arena.plan.arena_bytes / 2;
  const double halving = seconds([&] {
    halved = plan::recompute(plan::orders_of(step, options),
                             {.arena = options, .target_bytes = half, .any_op = true});
  });
  const plan::OrderProblem problem(step, options);
  const plan::NodeOrder order = plan::best_order(problem);
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", of.name, step.nodes.size(),
             building, ordering, recomputing, packing, halving);
  fmt::print(" {:.3f} | {:.3f} | {} | {:.3f} | {:.3f} |\n",
             mib(plan::peak_of(problem, problem.natural())), mib(order.peak_bytes),
             order.optimal ? "the best" : fmt::format("{:.3f}", mib(order.bound_bytes)),
             mib(arena.plan.arena_bytes), mib(plan::plan_arena(halved, options).plan.arena_bytes));
}

// plan_training also searches the nearest budget and measures the disk.
Plan report_plan(const Step& of, int64_t budget) {
  const auto start = std::chrono::steady_clock::now();
  Plan plan;
  const double processor = seconds([&] {
    plan = plan_training(
        of.model,
        {.optimizer = of.optimizer, .batch = of.batch, .memory_budget = budget, .threads = 1});
  });
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  fmt::print("| {} | {} | {} | {:.2f} | {:.2f} |\n", of.name,
             budget == 0 ? "none" : fmt::format("{:.2f}", mib(budget)),
             plan.fits ? fmt::format("{:.2f}", mib(plan.planned_peak_bytes)) : "refused", processor,
             wall.count());
  return plan;
}

}  // namespace

int main() {
  fmt::print(
      "| step | nodes | graph, s | order, s | recomputed, s | packing, s | half the arena, s | "
      "natural "
      "order, MiB | ordered | bound | arena | halved |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const std::vector<Step> steps = all_steps();
  for (const Step& step : steps) report_stages(step);

  fmt::print(
      "\n| plan | budget, MiB | planned peak, MiB | processor s | wall s |\n"
      "| --- | ---: | ---: | ---: | ---: |\n");
  constexpr std::array kShares = {0.75, 0.5, 0.25,
                                  0.125};  // fractions of the peak without a budget
  for (const Step& step : steps) {
    const int64_t peak = report_plan(step, 0).planned_peak_bytes;
    for (const double share : kShares) {
      report_plan(step, static_cast<int64_t>(share * static_cast<double>(peak)));
    }
  }
  return 0;
}
