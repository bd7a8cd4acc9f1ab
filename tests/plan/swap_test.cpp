// Values in the swap file: the memory freed, and that each value is present when it is read.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "exec/swap_file.h"
#include "io/temporary_folder.h"
#include "passes/passes.h"
#include "plan/budget/search.h"
#include "plan/lifetimes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "plan/swap/choice.h"
#include "plan/swap/stall_curve.h"
#include "plan/swap/swap.h"
#include "plan/transfer_ops.h"
#include "train/compile.h"

namespace thimble::plan::swap_test {
namespace {

ir::Graph step_of(const Graph& model, int64_t batch) {
  const ir::Graph step =
      train::training_graph(model.ir(), {.batch = batch}, batch, train::StepKind::update);
  return recompute(order_nodes(passes::optimize(step)), {});
}

// Nodes that take a millisecond each, and a file that takes a given number of milliseconds a
// megabyte.
SwapOptions options_for(const ir::Graph& graph, int64_t target, double ms_per_megabyte) {
  SwapOptions options{.target_bytes = target};
  options.costs.node_ms.assign(graph.nodes.size(), 1.0);
  options.costs.read_ms_per_byte = options.costs.write_ms_per_byte = ms_per_megabyte / 1e6;
  return options;
}

int64_t peak_of(const ir::Graph& graph, const std::set<std::string>& in_file) {
  return resident_bytes(graph, in_file) + live_peak_bytes(graph);
}

// Simulates a step and its swap file: what is read must have been written, and waited for before it
// is used; memory that is being written must not change before the transfer ends.
class FileCheck {
 public:
  explicit FileCheck(const Swapped& swapped) : graph_(swapped.graph) {
    // Parameters and state are there from the start.
    for (size_t slot = 0; slot < swapped.in_file.size(); ++slot) written_[static_cast<int>(slot)];
  }

  void run() {
    for (const ir::Node& node : graph_.nodes) visit(node);
    EXPECT_TRUE(writing_.empty()) << "not waited for at the step's end";
  }

 private:
  void visit(const ir::Node& node) {
    const int slot = is_transfer(*node.op) ? static_cast<int>(node.attrs.as<SwapAttrs>().slot) : -1;
    if (node.op == &swap_write_op()) {
      EXPECT_EQ(writing_.count(slot), 0U);
      writing_[slot] = node.inputs[0];
      begin(node);
    } else if (node.op == &swap_written_op()) {
      ASSERT_EQ(node.inputs.size(), 1U);
      EXPECT_EQ(writing_.at(slot), node.inputs[0]);
      end(slot);
      writing_.erase(slot);
      written_[slot] = true;
    } else if (node.op == &swap_read_op()) {
      EXPECT_EQ(written_.count(slot), 1U) << "reads slot " << slot << ", which nobody wrote";
      EXPECT_EQ(writing_.count(slot), 0U);
      raw_[node.outputs[0]] = slot;
      begin(node);
    } else if (node.op == &swap_ready_op()) {
      EXPECT_EQ(raw_.at(node.inputs[0]), slot);
      if (deadlines_.count(slot) > 0) end(slot);
    } else {
      for (const int id : node.inputs) {
        EXPECT_EQ(raw_.count(id), 0U) << node.op->name << " does not wait";
      }
    }
  }

  void begin(const ir::Node& node) {
    const auto& attrs = node.attrs.as<SwapAttrs>();
    deadlines_[static_cast<int>(attrs.slot)] = attrs.deadline;
  }

  // Earlier deadlines come first.
  void end(int slot) {
    for (const auto& [other, deadline] : deadlines_) {
      EXPECT_LE(deadlines_.at(slot), deadline) << "slot " << slot << " waits for slot " << other;
    }
    deadlines_.erase(slot);
  }

  const ir::Graph& graph_;
  std::map<int, int64_t> deadlines_;  // of transfers not yet waited for, by slot
  std::map<int, int> writing_;
  std::map<int, bool> written_;
  std::map<int, int> raw_;
};

class swap_of : public ::testing::TestWithParam<const char*> {};

TEST_P(swap_of, a_recipe_keeps_its_target_and_finds_everything_in_the_file) {
  const ir::Graph step = step_of(find_recipe(GetParam()).build(), 2);
  const int64_t whole = peak_of(step, {});
  int64_t before = whole + 1;
  for (const double part : {0.9, 0.6, 0.4, 0.0}) {
    const auto target = static_cast<int64_t>(part * static_cast<double>(whole));
    const Swapped swapped = swap(step, options_for(step, target, 1.0));
    FileCheck(swapped).run();
    EXPECT_LE(peak_of(swapped.graph, swapped.in_file), swapped.peak_bytes);
    EXPECT_LT(swapped.peak_bytes, before);
    EXPECT_TRUE(part == 0.0 || swapped.peak_bytes <= target || swapped.peak_bytes < whole);
    before = swapped.peak_bytes + 1;
    // The other nodes are unchanged.
    size_t next = 0;
    for (const ir::Node& node : swapped.graph.nodes) {
      if (is_transfer(*node.op)) continue;
      ASSERT_LT(next, step.nodes.size());
      EXPECT_EQ(node.op, step.nodes[next++].op);
    }
    EXPECT_EQ(next, step.nodes.size());
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, swap_of,
                         ::testing::Values("vae", "lenet5", "mlp", "mobilenetv2", "lstm",
                                           "unet_ddpm"),
                         [](const auto& info) { return std::string(info.param); });

Graph chain() {
  Graph g;
  Value x = g.input("x", {16, 16, 16});
  for (int i = 0; i < 12; ++i) {
    x = gelu(
        conv2d(x, {.channels = 16, .kernel = 3, .padding = 1, .name = "c" + std::to_string(i)}));
  }
  g.minimize(mean(square(x)));
  return g;
}

TEST(swap, moves_nothing_if_the_target_is_kept) {
  const ir::Graph step = step_of(chain(), 4);
  const Swapped swapped = swap(step, options_for(step, peak_of(step, {}), 1.0));
  EXPECT_EQ(swapped.decisions.items.size(), 0U);
  EXPECT_EQ(swapped.times.count, 0);
  EXPECT_TRUE(swapped.slot_bytes.empty());
  EXPECT_EQ(swapped.graph.nodes.size(), step.nodes.size());
}

TEST(swap, hides_the_time_of_a_fast_file_and_predicts_the_wait_for_a_slow_one) {
  const ir::Graph step = step_of(chain(), 4);
  const int64_t target = peak_of(step, {}) * 7 / 10;
  const double compute_ms = static_cast<double>(step.nodes.size());
  const Swapped fast = swap(step, options_for(step, target, 1.0));
  EXPECT_LE(fast.peak_bytes, target);
  EXPECT_GT(fast.times.busy_ms, 0.0);
  EXPECT_LT(fast.times.stall_ms, 0.3 * fast.times.busy_ms);
  const Swapped slow = swap(step, options_for(step, target, 1e4));
  EXPECT_GE(slow.times.stall_ms, slow.times.busy_ms - compute_ms);
}

// A buffer that is written by node 0 and read by node 100. A node and a byte take a millisecond
// each.
std::vector<Residency> placed(int64_t bytes) {
  SwapItem item;
  item.values = {0};
  item.bytes = bytes;
  item.accesses = {{0, true}, {100, false}};
  item.out = {0, 1, 0};
  Live live(120, 0);
  SwapOptions options{.target_bytes = 2 * bytes};
  options.costs = {.node_ms = std::vector<double>(live.size(), 1.0),
                   .read_ms_per_byte = 1.0,
                   .write_ms_per_byte = 1.0};
  return place_transfers({item}, live, options);
}

TEST(swap, gives_transfers_twice_their_time_if_the_gap_is_long_enough) {
  const std::vector<Residency> twice = placed(10);
  ASSERT_EQ(twice.size(), 2U);
  EXPECT_EQ(twice[0].written_at, 20);
  EXPECT_EQ(twice[1].read_at, 80);
  const std::vector<Residency> close = placed(40);
  ASSERT_EQ(close.size(), 2U);
  EXPECT_GE(close[0].written_at, 40);
  EXPECT_LE(close[1].read_at, 60);
  EXPECT_GT(close[1].read_at, close[0].written_at);
}

TEST(swap, hides_transfers_of_a_file_slower_than_planned_where_memory_is_left) {
  const ir::Graph step = step_of(chain(), 4);
  SwapOptions options = options_for(step, peak_of(step, {}) * 7 / 10, 10.0);
  const Swapped expected = swap(step, options);
  options.actual = options.costs;
  options.actual->read_ms_per_byte *= 1.5;
  options.actual->write_ms_per_byte *= 1.5;
  const Swapped slower = swap(step, options);
  EXPECT_LT(expected.times.stall_ms, 0.03 * expected.times.busy_ms);
  EXPECT_LT(slower.times.stall_ms, 0.03 * expected.times.busy_ms);
}

// Runs the kernel of a transfer of 4096 bytes.
void begin(const ir::OpDef& op, int64_t slot, int64_t deadline, void* data, exec::SwapFile& file) {
  const ir::TensorType type{DType::f32, {1024}};
  const ir::TensorType* const input = &op == &swap_write_op() ? &type : nullptr;
  const ir::Attrs attrs = ir::Attrs::of(SwapAttrs{slot, deadline, type.dtype, type.shape});
  const ir::Params params = op.kernels.params({attrs, {&input, 1}, {}});
  const void* const from = data;
  op.kernels.ref({.outputs = &data,
                  .inputs = &from,
                  .workspace = nullptr,
                  .params = params.bytes().data(),
                  .input_count = 1,
                  .output_count = 1,
                  .pool = nullptr,
                  .swap = &file});
}

TEST(swap, gives_transfers_deadlines) {
  const test::TemporaryFolder folder;
  for (const ir::OpDef* const op : {&swap_write_op(), &swap_read_op()}) {
    std::promise<void> release;
    std::shared_future<void> released = release.get_future().share();
    std::atomic<bool> holds{false};
    std::string order;
    exec::SwapOptions options{.buffer_bytes = 4096, .buffers = 1};
    options.answer = [&](const exec::SwapRequest& request, int64_t moved) {
      if (holds) {
        released.wait();
        order += std::to_string(request.offset / 4096);
      }
      return moved;
    };
    std::vector<float> data(1024);
    exec::SwapFile file(folder.path(), {4096, 4096, 4096}, options);
    for (const int slot : {0, 1, 2}) {
      file.start_write(slot, data.data(), 4096);
      ASSERT_TRUE(file.wait(slot)) << file.error();
    }
    file.reset_counters();
    holds = true;
    begin(*op, 0, 0, data.data(), file);
    while (file.counters().busy_ms == 0.0)
      std::this_thread::yield();  // the transfer is in progress
    begin(*op, 1, 9, data.data(), file);
    begin(*op, 2, 5, data.data(), file);
    release.set_value();
    for (const int slot : {0, 1, 2}) ASSERT_TRUE(file.wait(slot)) << file.error();
    EXPECT_EQ(order, "021") << op->name;
  }
}

TEST(swap, is_chosen_by_some_costs_and_predicted_by_others) {
  const ir::Graph step = step_of(chain(), 4);
  SwapOptions options = options_for(step, peak_of(step, {}) * 7 / 10, 1.0);
  const Swapped by_costs = swap(step, options);
  options.actual = options.costs;
  SwapRates rates{.read_ms_per_byte = 3.0, .write_ms_per_byte = 5.0, .transfer_ms = 7.0};
  options.actual->read_ms_per_byte = rates.read_ms_per_byte;
  options.actual->write_ms_per_byte = rates.write_ms_per_byte;
  options.actual->transfer_ms = rates.transfer_ms;
  const Swapped by_others = swap(step, options);
  EXPECT_EQ(ir::text(by_others.graph), ir::text(by_costs.graph));
  EXPECT_GT(by_others.times.stall_ms, by_costs.times.stall_ms);
  const auto busy_ms = [&] {
    const std::vector<double> node_ms(by_others.graph.nodes.size(), 1.0);
    return transfer_times(by_others.graph, rates.costs(node_ms)).busy_ms;
  };
  const double busy = busy_ms();
  EXPECT_NEAR(by_others.times.busy_ms, busy, 1e-9 * busy);
  rates.scale(2.0, rates.staging_bytes);
  EXPECT_NEAR(busy_ms(), 2.0 * busy, 1e-9 * busy);
}

constexpr double kRounding = 1e-9;  // of sums of some hundred times

// Transfers of 40 bytes; a read takes a millisecond a byte, a write two; computing takes 30 ms.
TEST(swap, simulates_the_most_urgent_transfer_first) {
  ir::Graph graph;
  const Shape shape({10});
  const auto add = [&](const ir::OpDef& op, int64_t slot, int64_t deadline, int input) {
    ir::Node node{.op = &op, .attrs = ir::Attrs::of(SwapAttrs{slot, deadline, DType::f32, shape})};
    if (input >= 0) node.inputs = {input};
    int made = -1;
    if (!op.signature.outputs.empty()) {
      made = static_cast<int>(graph.values.size());
      graph.values.push_back({.type = {DType::f32, shape}});
      node.outputs = {made};
    }
    graph.nodes.push_back(std::move(node));
    return made;
  };
  const int late = add(swap_read_op(), 0, 9, -1);
  const int soon = add(swap_read_op(), 1, 5, -1);
  const int y = add(swap_ready_op(), 1, 5, soon);  // waits 40 ms, up to 40
  add(swap_ready_op(), 0, 9, late);                // waits 40 ms, up to 80
  add(swap_write_op(), 1, 20, y);
  graph.nodes.push_back(
      step_of(chain(), 4).nodes.front());  // up to 110: 50 ms of the write are left
  const int again = add(swap_read_op(), 0, 12, -1);
  add(swap_ready_op(), 0, 12, again);  // waits 40 ms, up to 150: the write stands back
  add(swap_written_op(), 1, 20, y);    // waits 50 ms, up to 200
  SwapCosts costs{.node_ms = std::vector<double>(graph.nodes.size(), 30.0),
                  .read_ms_per_byte = 1.0,
                  .write_ms_per_byte = 2.0};
  const auto stall_ms = [&](size_t nodes) {
    graph.nodes.resize(nodes);
    return transfer_times(graph, costs).stall_ms;
  };
  const TransferTimes times = transfer_times(graph, costs);
  EXPECT_EQ(times.count, 4);
  EXPECT_EQ(times.read_bytes, 120);
  EXPECT_EQ(times.written_bytes, 40);
  EXPECT_DOUBLE_EQ(times.busy_ms, 3 * 40.0 + 80.0);
  EXPECT_DOUBLE_EQ(stall_ms(9), 170.0);
  EXPECT_DOUBLE_EQ(stall_ms(8), 120.0);
  EXPECT_DOUBLE_EQ(stall_ms(4), 80.0);
  EXPECT_DOUBLE_EQ(stall_ms(3), 40.0);
}

TEST(stall_curve, goes_through_what_was_measured_and_scales_with_time) {
  constexpr double kLacking = 0.05;  // share of the file's time that no simulation knows
  constexpr double kBetween = 0.01;  // share of the file's time: error between two points
  const ir::Graph step = step_of(chain(), 4);
  const Swapped swapped = swap(step, options_for(step, peak_of(step, {}) * 6 / 10, 20.0));
  ASSERT_GT(swapped.times.count, 0);
  const SwapCosts costs = options_for(swapped.graph, 0, 20.0).costs;
  const auto computing_ms = static_cast<double>(step.nodes.size());
  const auto simulated = [&](double factor) {
    SwapCosts other = costs;
    other.scale_file(factor);
    return transfer_times(swapped.graph, other);
  };
  const auto with_lack = [](const TransferTimes& times) {
    return std::min(times.stall_ms + kLacking * times.busy_ms, times.busy_ms);
  };
  // A file that took three times as long as predicted.
  const TransferTimes then = simulated(3.0);
  ASSERT_GT(then.stall_ms, 0.0);
  const StallCurve curve(swapped.graph, costs, {computing_ms, then.busy_ms, with_lack(then)});
  EXPECT_NEAR(curve.stall_ms(computing_ms, then.busy_ms), with_lack(then),
              kRounding * then.busy_ms);
  EXPECT_NEAR(curve.stall_ms(5 * computing_ms, 5 * then.busy_ms), 5 * with_lack(then),
              5 * kRounding * then.busy_ms);
  for (const double factor : {0.3, 0.8, 1.1, 2.0, 5.5, 20.0}) {
    const TransferTimes now = simulated(3.0 * factor);
    EXPECT_NEAR(curve.stall_ms(computing_ms, now.busy_ms), with_lack(now), kBetween * now.busy_ms)
        << factor;
    // Computing faster is as if the file were slower.
    EXPECT_NEAR(curve.stall_ms(computing_ms / 2, now.busy_ms),
                curve.stall_ms(computing_ms, 2 * now.busy_ms) / 2, kRounding * now.busy_ms)
        << factor;
  }
  // Of the predicted times of nodes only the ratios count.
  SwapCosts slower = costs;
  for (double& ms : slower.node_ms) ms *= 3.0;
  const StallCurve same(swapped.graph, slower, {computing_ms, then.busy_ms, with_lack(then)});
  EXPECT_NEAR(same.stall_ms(computing_ms, 2 * then.busy_ms),
              curve.stall_ms(computing_ms, 2 * then.busy_ms), kRounding * then.busy_ms);
}

TEST(stall_curve, is_never_longer_than_the_file_was_busy) {
  const ir::Graph step = step_of(chain(), 4);
  const Swapped swapped = swap(step, options_for(step, 0, 20.0));
  const SwapCosts costs = options_for(swapped.graph, 0, 20.0).costs;
  for (const double measured_ms : {0.0, 4.0}) {
    const StallCurve curve(swapped.graph, costs, {measured_ms, measured_ms, measured_ms / 2});
    for (const double computing_ms : {0.0, 1.0, 1e6}) {
      for (const double busy_ms : {0.0, 1e-3, 4.0, 1e6}) {
        const double stall_ms = curve.stall_ms(computing_ms, busy_ms);
        EXPECT_GE(stall_ms, 0.0);
        EXPECT_LE(stall_ms, busy_ms);
      }
    }
  }
}

TEST(swap, buffers_of_parameters_and_state_say_what_they_are) {
  const ir::Graph step = step_of(chain(), 4);
  const SwapOptions options = options_for(step, 0, 1.0);
  const Swapped swapped = swap(step, options);
  const Plan plan = plan_arena(swapped.graph, options.arena, swapped.in_file).plan;
  size_t found = 0;
  for (const PlanBuffer& buffer : plan.buffers) {
    const bool persists = buffer.role == "parameter" || buffer.role == "state";
    const std::string name = buffer.name.substr(0, buffer.name.rfind(" (fetched)"));
    EXPECT_EQ(persists, buffer.made == Made::fetched && swapped.in_file.count(name) > 0)
        << buffer.name;
    found += persists ? 1 : 0;
  }
  EXPECT_GE(found, swapped.in_file.size());
}

TEST(swap, writes_only_values_that_it_reads_and_values_that_change) {
  const ir::Graph step = step_of(chain(), 4);
  const Swapped swapped = swap(step, options_for(step, 0, 1.0));
  // Parameters are read at least twice, forward and backward, and written once.
  EXPECT_FALSE(swapped.in_file.empty());
  EXPECT_GT(swapped.times.read_bytes, swapped.times.written_bytes);
}

TEST(swap, reads_what_another_program_wrote_and_writes_nothing_else) {
  const ir::Graph step = step_of(chain(), 4);
  SwapOptions options = options_for(step, int64_t{1} << 40, 1.0);
  options.in_file = {"c3.weight", "nobody.has.this"};
  const Swapped swapped = swap(step, options);
  FileCheck(swapped).run();
  EXPECT_EQ(swapped.in_file, *options.in_file);
  EXPECT_EQ(swapped.slot_bytes.size(), 2U);
  EXPECT_EQ(swapped.slot_bytes[1], 0);
  EXPECT_EQ(swapped.decisions.items.size(), 1U);
}

}  // namespace
}  // namespace thimble::plan::swap_test
