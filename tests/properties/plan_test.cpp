// Simulates the memory of a plan without running kernels.
#include <algorithm>
#include <array>

#include "exec/program.h"
#include "passes/passes.h"
#include "plan/budget/search.h"
#include "plan/order/order.h"
#include "properties/random_models.h"
#include "train/update.h"

namespace thimble::test::plan_test {
namespace {

// Records for every cache line of an arena which value was last written to it.
class Lines {
 public:
  explicit Lines(const Plan& plan)
      : plan_(plan),
        owner_(static_cast<size_t>(plan.arena_bytes / plan::kAlignment) + 1, kNobody) {}

  void write(int buffer, int owner) {
    const auto [first, last] = range(buffer);
    for (size_t i = first; i < last; ++i) owner_[i] = owner;
  }
  [[nodiscard]] bool holds(int buffer, int owner) const {
    const auto [first, last] = range(buffer);
    for (size_t i = first; i < last; ++i) {
      if (owner_[i] != owner) return false;
    }
    return true;
  }

 private:
  static constexpr int kNobody = -1;
  [[nodiscard]] std::pair<size_t, size_t> range(int buffer) const {
    const PlanBuffer& b = plan_.buffers[static_cast<size_t>(buffer)];
    return {static_cast<size_t>(b.offset / plan::kAlignment),
            static_cast<size_t>((b.offset + b.bytes + plan::kAlignment - 1) / plan::kAlignment)};
  }
  const Plan& plan_;
  std::vector<int> owner_;
};

// Simulates the nodes of a program in order and checks that everything a node reads is still
// intact.
class Play {
 public:
  Play(const ir::Graph& graph, const plan::Arena& arena)
      : graph_(graph), arena_(arena), lines_(arena.plan) {}

  std::string error() {
    for (const PlanBuffer& b : arena_.plan.buffers) {
      if (b.offset < 0 || b.offset % plan::kAlignment != 0 ||
          b.offset + b.bytes > arena_.plan.arena_bytes) {
        return fmt::format("{} lies at {} of {} bytes", b.name, b.offset, arena_.plan.arena_bytes);
      }
    }
    for (size_t id = 0; id < graph_.values.size(); ++id) {
      const int number = static_cast<int>(id);
      names_.push_back(number);
      if (graph_.values[id].producer < 0 && buffer_of(number) >= 0) write(number);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      std::string wrong = play(n);
      if (!wrong.empty()) {
        return fmt::format("node {} ({}): {}", n, graph_.nodes[n].op->name, wrong);
      }
    }
    for (const int id : graph_.results()) {
      if (!is_there(id)) return fmt::format("result %{} is gone at the end", id);
    }
    return "";
  }

 private:
  [[nodiscard]] int buffer_of(int id) const {
    return arena_.buffer_of_value[static_cast<size_t>(id)];
  }
  // A view holds what the value below it holds.
  [[nodiscard]] int name_of(int id) const { return names_[static_cast<size_t>(id)]; }
  void write(int id) { lines_.write(buffer_of(id), name_of(id)); }
  [[nodiscard]] bool is_there(int id) const {
    if (ir::is_persistent(graph_.data(id).role)) return true;
    return buffer_of(id) >= 0 && lines_.holds(buffer_of(id), name_of(id));
  }
  static bool has(const std::vector<ir::Alias>& aliases, const ir::Node& node, size_t out, int in) {
    return std::any_of(aliases.begin(), aliases.end(), [&](const ir::Alias& a) {
      return static_cast<size_t>(a.out) == out && node.input(a.in) == in;
    });
  }
  // Whether the op declares that it may write this output over that input.
  [[nodiscard]] bool may_lie_on(const ir::Node& node, size_t out, int in) const {
    // A kernel that is not elementwise may still read another argument after it has written.
    const auto reads = std::count(node.inputs.begin(), node.inputs.end(), in);
    if (has(node.op->memory.in_place, node, out, in))
      return reads == 1 || node.op->flow.elementwise;
    // Another view of the same bytes.
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int other) {
      return other >= 0 && other != in && name_of(other) == name_of(in) &&
             has(node.op->memory.in_place, node, out, other) && node.op->flow.elementwise;
    });
  }

  std::string play(size_t n) {
    const ir::Node& node = graph_.nodes[n];
    for (const int id : node.inputs) {
      if (id >= 0 && !is_there(id)) return fmt::format("input %{} is gone", id);
    }
    const int workspace = arena_.workspace_of_node[n];
    const int scratch = -2 - static_cast<int>(n);
    if (workspace >= 0) lines_.write(workspace, scratch);
    for (size_t out = 0; out < node.outputs.size(); ++out) {
      const int id = node.outputs[out];
      if (ir::is_persistent(graph_.data(id).role)) continue;
      if (buffer_of(id) < 0) return fmt::format("output %{} has no place", id);
      for (const int in : node.inputs) {
        if (in >= 0 && has(node.op->memory.views, node, out, in) &&
            buffer_of(in) == buffer_of(id)) {
          names_[static_cast<size_t>(id)] = name_of(in);
        }
      }
      write(id);
    }
    if (workspace >= 0 && !lines_.holds(workspace, scratch)) return "writes over its workspace";
    for (const int id : node.outputs) {
      if (!is_there(id)) return fmt::format("output %{} is written over by another", id);
    }
    for (const int in : node.inputs) {
      if (in < 0 || is_there(in)) continue;
      bool allowed = false;
      for (size_t out = 0; out < node.outputs.size(); ++out) {
        allowed =
            allowed || (buffer_of(in) == buffer_of(node.outputs[out]) && may_lie_on(node, out, in));
      }
      if (!allowed) return fmt::format("input %{} is written over while it is read", in);
    }
    return "";
  }

  const ir::Graph& graph_;
  const plan::Arena& arena_;
  Lines lines_;
  std::vector<int> names_;
};

Optimizer optimizer_of(uint32_t seed) {
  static const std::array<Optimizer, 6> kAll = {
      SGD{},     SGD{.momentum = 0.9},
      Adam{},    AdamW{.amsgrad = true},
      RMSProp{}, RMSProp{.momentum = 0.5, .centered = true}};
  return kAll[seed % kAll.size()];
}

GradientClip clip_of(uint32_t seed) {
  using Kind = GradientClip::Kind;
  static constexpr std::array kAll = {Kind::none, Kind::value, Kind::tensor_norm,
                                      Kind::global_norm};
  return {kAll[seed / 8 % kAll.size()], 1.0};
}

// The whole step: forward, backward and updates.
ir::Graph training_step(const RandomModel& model, uint32_t seed) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.graph.ir(), model.batch), ir::Phase::training);
  const auto gradients = autodiff::append_loss_gradients(graph);
  train::append_updates(graph, gradients, {.optimizer = optimizer_of(seed), .clip = clip_of(seed)});
  return graph;
}

std::string keeps_every_value_until_its_last_reader(const RandomModel& model, uint32_t seed) {
  const ir::Graph forward = ir::with_batch(model.graph.ir(), model.batch);
  for (const ir::Graph& graph : {training_step(model, seed), with_gradients(model),
                                 passes::specialize(forward, ir::Phase::inference)}) {
    for (const bool optimize : {false, true}) {
      for (const bool fast : {false, true}) {
        const exec::Program program(graph, {.threads = 2, .fast = fast, .optimize = optimize});
        std::string error = Play(program.graph(), program.arena()).error();
        if (!error.empty()) {
          return fmt::format("{}\noptimize {}, fast {}\n{}\n{}", error, optimize, fast,
                             ir::text(program.graph()), program.plan().text());
        }
        if (program.plan().lower_bound_bytes > program.plan().planned_peak_bytes) {
          return "the lower bound is above the peak";
        }
      }
    }
  }
  return "";
}

// One in so many models is planned for several budgets.
constexpr uint32_t kPlannedOneIn = 8;
constexpr double kRounding = 1e-9;  // of the sum of a step's times

std::string is_slower_within_more_memory(const ir::Graph& step, Swap swap, uint32_t seed) {
  static constexpr double kMsPerByte[] = {1e-8, 1e-6, 1e-4};
  const double ms_per_byte = kMsPerByte[seed / kPlannedOneIn / 2 % std::size(kMsPerByte)];
  plan::Budget budget;
  budget.memo = std::make_shared<plan::Memo>();
  budget.swap = swap;
  budget.smallest_swapped_bytes = 64;
  budget.explain = true;
  budget.least_staging_bytes = 256;
  budget.device = std::make_shared<plan::KnownSwapDevice>(
      plan::SwapRates{.read_ms_per_byte = ms_per_byte,
                      .write_ms_per_byte = 2.0 * ms_per_byte,
                      .transfer_ms = 1e-3,
                      .staging_bytes = 4096,
                      .least_staging_bytes = budget.least_staging_bytes,
                      .staging_step_bytes = 64});
  const auto planned = [&](int64_t bytes) {
    budget.bytes = bytes;
    return plan::fit(step, {}, budget).arena.plan;
  };
  const int64_t least = plan::counted_bytes(planned(1));
  const int64_t most = plan::counted_bytes(planned(int64_t{1} << 40));
  constexpr int kBudgets = 6;
  Plan last = planned(least);
  for (int i = 0; i <= kBudgets + 1; ++i) {  // the last one is ample
    const int64_t bytes = least + i * (most - least) / kBudgets;
    Plan now = planned(bytes);
    if (plan::counted_bytes(now) > bytes) return fmt::format("{} does not keep {}", i, bytes);
    if (now.step_ms > (1.0 + kRounding) * last.step_ms) {
      return fmt::format("{} ms within {} bytes, {} ms within less\n{}\n{}\n{}", now.step_ms, bytes,
                         last.step_ms, now.decisions, last.decisions, ir::text(step));
    }
    last = std::move(now);
  }
  return "";
}

std::string is_predicted_no_slower_within_more_memory(const RandomModel& model, uint32_t seed) {
  if (seed % kPlannedOneIn != 0) return "";
  const ir::Graph step = passes::optimize(training_step(model, seed));
  for (const Swap swap : {Swap::never, Swap::automatic, Swap::always}) {
    if (swap != Swap::never && seed / kPlannedOneIn % 2 != 0) continue;  // takes longer
    const std::string error = is_slower_within_more_memory(step, swap, seed);
    if (!error.empty()) return fmt::format("swap {}: {}", static_cast<int>(swap), error);
  }
  return "";
}

std::string has_no_larger_live_peak_once_ordered(const RandomModel& model, uint32_t seed) {
  ir::Graph step = training_step(model, seed);
  // Batch norms may update their statistics before the loss in the order given; no ordered graph
  // does where there is a loss.
  step.outputs.emplace_back("loss", *step.loss);
  step.loss.reset();
  const ir::Graph graph = passes::optimize(step);
  const ir::Graph ordered = plan::order_nodes(graph);
  ir::verify(ordered);
  if (ordered.nodes.size() != graph.nodes.size()) return "nodes were lost or added";
  const int64_t before = plan::live_peak_bytes(graph);
  const int64_t after = plan::live_peak_bytes(ordered);
  if (after > before) return fmt::format("{} bytes became {}", before, after);
  const plan::NodeOrder order = plan::best_order(plan::OrderProblem(graph, {}));
  if (order.bound_bytes > after) return fmt::format("{} bytes are below the bound", after);
  if (order.peak_bytes != after) {
    return fmt::format("{} bytes in the plan, {} in the search", after, order.peak_bytes);
  }
  return "";
}

// With all passes, loss and updates.
std::string is_ordered_as_the_rules_say(const RandomModel& model, uint32_t seed) {
  const ir::Graph graph = passes::optimize(training_step(model, seed));
  const plan::OrderProblem problem(graph, {});
  const ir::Graph ordered = plan::order_nodes(graph);
  ir::verify(ordered);
  const int64_t natural = plan::peak_of(problem, problem.natural());
  const int64_t after = plan::live_peak_bytes(ordered);
  if (after > natural) return fmt::format("{} bytes became {}", natural, after);
  const int loss_node = ordered.data(*ordered.loss).producer;
  for (int n = 0; n < loss_node; ++n) {
    const ir::Node& node = ordered.nodes[static_cast<size_t>(n)];
    if (!node.op->memory.updates.empty())
      return fmt::format("{} runs before the loss", node.op->name);
  }
  return "";
}

TEST(random_model, is_predicted_no_slower_within_more_memory) {
  expect_of_random_models(is_predicted_no_slower_within_more_memory);
}

TEST(random_model, keeps_every_value_in_memory_until_its_last_reader) {
  expect_of_random_models(keeps_every_value_until_its_last_reader);
}

TEST(random_model, is_ordered_as_the_rules_say) {
  expect_of_random_models(is_ordered_as_the_rules_say);
}

TEST(random_model, has_no_larger_live_peak_once_ordered) {
  expect_of_random_models(has_no_larger_live_peak_once_ordered);
}

}  // namespace
}  // namespace thimble::test::plan_test
