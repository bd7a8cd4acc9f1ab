// Passes, order and memory must not change what a step computes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

#include "exec/program.h"
#include "exec/swap_file.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "properties/random_models.h"
#include "train/update.h"

namespace thimble::test::passes_test {
namespace {

using ir::Bytes;
using ir::Precision;

// The loss, the outputs, and the parameters and states that were updated, by name.
using Results = std::map<std::string, Bytes>;

Results run_program(const ir::Graph& graph, const Contents& contents,
                    const exec::CompileOptions& options) {
  const exec::Program program(graph, options);
  exec::Store store({&program.data()}, program.in_file());
  std::unique_ptr<exec::SwapFile> file;
  if (!program.slot_bytes().empty()) {
    file = std::make_unique<exec::SwapFile>("", program.slot_bytes(),
                                            exec::SwapOptions{.buffer_bytes = 4096});
  }
  int64_t bounce_bytes = 0;
  for (const auto& entry : store.entries()) {
    bounce_bytes = std::max(bounce_bytes, static_cast<int64_t>(entry.bytes()));
  }
  const exec::Block bounce(bounce_bytes);
  store.attach(file.get(), {bounce.data(), static_cast<size_t>(bounce_bytes)});
  for (const auto& entry : store.entries()) {
    const Bytes bytes = contents.bytes(entry.name, Precision::f32);
    store.overwrite(entry, [&](std::span<std::byte> memory) {
      std::copy(bytes.begin(), bytes.end(), memory.begin());
    });
  }
  parallel::ThreadPool pool(options.threads);
  const exec::Block arena(program.plan().arena_bytes);
  // Old contents of the arena must not matter.
  if (arena.bytes() > 0) std::memset(arena.data(), 0xFF, static_cast<size_t>(arena.bytes()));
  exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                        pool, file.get());
  for (const ir::ValueData& data : program.graph().values) {
    const bool is_set = data.producer < 0 && !ir::is_persistent(data.role);
    const std::span<std::byte> source = is_set ? session.source(data.name) : std::span<std::byte>();
    if (source.empty()) continue;
    const Bytes bytes = contents.bytes(data.name, Precision::f32);
    std::memcpy(source.data(), bytes.data(), bytes.size());
  }
  if (!session.run()) throw Error("session", "the loss is not finite");
  Results results;
  const auto keep = [&results](const std::string& name, std::span<const std::byte> bytes) {
    results[name].assign(bytes.begin(), bytes.end());
  };
  keep("loss", session.loss());
  for (const auto& [name, id] : program.graph().outputs) keep(name, session.output(name));
  for (const auto& [name, id] : program.graph().metrics) keep(name, session.metric(name));
  for (const ir::Node& node : program.graph().nodes) {
    for (const ir::Alias& update : node.op->memory.updates) {
      if (node.input(update.in) < 0) continue;
      const std::string& name = program.graph().data(node.input(update.in)).name;
      keep(name, store.read(*store.find(name)));
    }
  }
  return results;
}

std::string first_difference(const Results& got, const Results& wanted) {
  for (const auto& [name, bytes] : wanted) {
    const auto found = got.find(name);
    if (found == got.end()) return name + " is missing";
    if (found->second != bytes) return name + " has other bits";
  }
  return "";
}

// The step with its gradients as outputs and its updates.
ir::Graph whole_step(const RandomModel& model) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.graph.ir(), model.batch), ir::Phase::training);
  const auto gradients = autodiff::append_loss_gradients(graph);
  for (const autodiff::Gradient& gradient : gradients) {
    if (gradient.gradient < 0) continue;
    graph.outputs.emplace_back("grad(" + graph.data(gradient.value).name + ")", gradient.gradient);
  }
  train::append_updates(graph, gradients, {.optimizer = SGD{.momentum = 0.5}});
  return graph;
}

ir::Graph order_nodes(const ir::Graph& graph) { return plan::order_nodes(graph, {}); }

// Everything that lowers the peak is recomputed.
ir::Graph recompute_any_op(const ir::Graph& graph) {
  return plan::recompute(plan::orders_of(graph), {.arena = {}, .any_op = true});
}

// Passes that keep every bit; gather_late, which does not, is part of equals_the_reference.
constexpr struct {
  const char* name;
  ir::Graph (*run)(const ir::Graph&);
} kPasses[] = {{"remove_dead_code", passes::remove_dead_code},
               {"fold_constants", passes::fold_constants},
               {"fuse_epilogues", passes::fuse_epilogues},
               {"order_nodes", order_nodes},
               {"recompute", recompute_any_op},
               {"optimize", passes::optimize}};

std::string gives_the_same_bits_with_any_pass(const RandomModel& model, uint32_t seed) {
  const ir::Graph graph = whole_step(model);
  const Contents contents = random_contents(model, graph, seed);
  const Results plain = run_program(graph, contents, {.optimize = false});
  for (const auto& pass : kPasses) {
    const ir::Graph changed = pass.run(graph);
    ir::verify(changed);
    const std::string error =
        first_difference(run_program(changed, contents, {.optimize = false}), plain);
    if (!error.empty()) return fmt::format("after {}: {}", pass.name, error);
  }
  // With and without a budget of one byte, for which everything is recomputed or swapped that
  // can.
  const plan::Budget least{
      .bytes = 1, .swap = Swap::always, .smallest_swapped_bytes = 1, .least_staging_bytes = 8192};
  for (const plan::Budget& budget : {plan::Budget{}, plan::Budget{.bytes = 1}, least}) {
    if (budget.bytes > 0 && seed % 4 != 0) continue;  // the search takes long
    const std::string error =
        first_difference(run_program(graph, contents, {.budget = budget}), plain);
    if (!error.empty()) return fmt::format("packed, budget {}: {}", budget.bytes, error);
  }
  return "";
}

std::string gives_the_same_bits_on_any_number_of_threads(const RandomModel& model, uint32_t seed) {
  const ir::Graph graph = whole_step(model);
  const Contents contents = random_contents(model, graph, seed);
  const Results one = run_program(graph, contents, {.threads = 1});
  for (const int threads : {2, 4}) {
    const std::string error =
        first_difference(run_program(graph, contents, {.threads = threads}), one);
    if (!error.empty()) return fmt::format("{} threads: {}", threads, error);
  }
  return "";
}

std::string equals_the_reference(const RandomModel& model, uint32_t seed) {
  // Rounding of float sums in another order, through a dozen ops and back, where differences of
  // near numbers magnify it.
  constexpr double kTolerance = 1e-3;
  // The exact gradient may be 0, such as that of a bias before a batch norm. The computed one is
  // then the rounding of its terms.
  constexpr double kShareOfLargest = 0.1;
  const ir::Graph graph = with_gradients(model);
  const Contents contents = random_contents(model, graph, seed);
  const auto values = run_on(graph, contents, Precision::f64);
  const auto wanted_of = [&](size_t id) { return ir::to_doubles(values[id], Precision::f64); };
  double largest = 1e-3;
  for (size_t id = 0; id < values.size(); ++id) {
    if (graph.values[id].role != ir::Role::gradient) continue;
    for (const double v : wanted_of(id)) largest = std::max(largest, std::abs(v));
  }
  const auto difference = [&](const Results& got) -> std::string {
    for (const auto& [name, id] : graph.outputs) {
      if (graph.type(id).dtype != DType::f32) continue;
      const auto wanted = wanted_of(static_cast<size_t>(id));
      const auto mine = ir::to_doubles(got.at(name), Precision::f32);
      double scale = kShareOfLargest * largest;
      for (const double v : wanted) scale = std::max(scale, std::abs(v));
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (std::abs(mine[i] - wanted[i]) <= kTolerance * scale) continue;
        return fmt::format("{}[{}] is {:.6g}, the double-precision reference says {:.6g}", name, i,
                           mine[i], wanted[i]);
      }
    }
    return "";
  };
  std::string error = difference(run_program(graph, contents, {}));
  if (!error.empty()) return error;
  error = difference(run_program(with_gradients(model, passes::gather_late), contents, {}));
  return error.empty() ? "" : "after gather_late: " + error;
}

TEST(random_model, gives_the_same_bits_with_any_pass) {
  expect_of_random_models(gives_the_same_bits_with_any_pass);
}

TEST(random_model, gives_the_same_bits_on_any_number_of_threads) {
  expect_of_random_models(gives_the_same_bits_on_any_number_of_threads);
}

// The ops and their attributes in order, without the numbers of values, which any pass may change.
std::vector<std::string> nodes_of(const ir::Graph& graph) {
  std::vector<std::string> nodes;
  for (const ir::Node& node : graph.nodes) {
    nodes.push_back(fmt::format("{} {}", node.op->name, node.attrs.text()));
  }
  return nodes;
}

// Otherwise these properties might be tested on passes that do nothing.
TEST(random_models, give_every_pass_something_to_do) {
  if (THIMBLE_ADDRESS_SANITIZER) GTEST_SKIP() << "counts, which a sanitizer does not change";
  constexpr uint32_t kModels = 40;
  std::map<std::string, int> changed;
  const auto count = [&](const std::string& name, bool change) { changed[name] += change ? 1 : 0; };
  std::mt19937 random(1);
  for (uint32_t i = 0; i < kModels; ++i) {
    std::vector<uint32_t> numbers(random() % kMostOps);
    for (uint32_t& number : numbers) number = random() % (1U << 30U);
    const RandomModel model = random_model(i, numbers);
    const ir::Graph step = whole_step(model);
    for (const auto& pass : kPasses) {
      const ir::Graph after = pass.run(step);
      count(pass.name, pass.run == recompute_any_op ? after.nodes.size() > step.nodes.size()
                                                    : nodes_of(after) != nodes_of(step));
    }
    const ir::Graph forward = with_gradients(model);
    count("gather_late", nodes_of(with_gradients(model, passes::gather_late)) != nodes_of(forward));
    const exec::Program plain(step, {});
    const exec::Program small(step, {.budget = {.bytes = 1}});
    count("budget", small.graph().nodes.size() > plain.graph().nodes.size());
    for (const char* op : {"scaled_dot_product_attention", "lstm_scan", "gru_scan", "rnn_scan",
                           "embedding", "gather", "upsample2d"}) {
      count(op, std::any_of(step.nodes.begin(), step.nodes.end(), [op](const ir::Node& node) {
              return std::string_view(node.op->name) == op;
            }));
    }
  }
  for (const auto& [name, models] : changed) EXPECT_GE(models, kModels / 30) << name;
  EXPECT_GE(changed["recompute"], kModels / 5);
  EXPECT_GE(changed["budget"], kModels / 12);
}

TEST(random_model, equals_the_reference) { expect_of_random_models(equals_the_reference); }

}  // namespace
}  // namespace thimble::test::passes_test
