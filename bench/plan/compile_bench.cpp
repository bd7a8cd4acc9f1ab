// What it takes to compile the training steps of our recipes, and of gpt with 24 layers: processor
// seconds of every stage on one thread, and the bytes alive at once before and after it. Seconds
// are those of one run.
#include <fmt/format.h>
#include <thimble/thimble.h>

#include <ctime>
#include <functional>

#include "passes/passes.h"
#include "plan/fit_arena.h"
#include "plan/order.h"
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

void report(const std::string& name, const Graph& model, const Optimizer& optimizer,
            int64_t batch) {
  const plan::ArenaOptions options;
  ir::Graph step;
  ir::Graph ordered;
  ir::Graph again;
  ir::Graph halved;
  plan::Arena arena;
  const double building = seconds([&] {
    step = passes::optimize(train::training_graph(
        model.ir(), {.optimizer = optimizer, .batch = batch}, batch, train::StepKind::update));
  });
  const double ordering = seconds([&] { ordered = plan::order_nodes(step, options); });
  const double recomputing =
      seconds([&] { again = plan::ArenaFitter(plan::orders_of(step, options), options).fit(0); });
  const double packing = seconds([&] { arena = plan::plan_arena(again, options); });
  const int64_t half = arena.plan.arena_bytes / 2;
  const double halving = seconds(
      [&] { halved = plan::ArenaFitter(plan::orders_of(step, options), options).fit(half); });
  const plan::OrderProblem problem(step, options);
  const plan::NodeOrder order = plan::best_order(problem);
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |", name, step.nodes.size(),
             building, ordering, recomputing, packing, halving);
  fmt::print(" {:.3f} | {:.3f} | {} | {:.3f} | {:.3f} |\n",
             mib(plan::peak_of(problem, problem.natural())), mib(order.peak_bytes),
             order.optimal ? "the best" : fmt::format("{:.3f}", mib(order.bound_bytes)),
             mib(arena.plan.arena_bytes), mib(plan::plan_arena(halved, options).plan.arena_bytes));
}

}  // namespace

int main() {
  fmt::print(
      "| step | nodes | graph, s | order, s | again, s | packing, s | half the arena, s | natural "
      "order, MiB | ordered | bound | arena | halved |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Recipe& recipe : recipes()) {
    report(fmt::format("{}, batch {}", recipe.name, recipe.batch), recipe.build(),
           recipe.optimizer(), recipe.batch);
  }
  const Recipe& gpt = find_recipe("gpt");
  report("gpt of 24 layers, batch 4", models::gpt_graph(24), gpt.optimizer(), 4);
  return 0;
}
