// Recomputed values: the memory saved, the cost, and where recomputation is not allowed.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <functional>
#include <optional>
#include <string>

#include "ir/rewrite.h"
#include "passes/passes.h"
#include "plan/order/order.h"
#include "plan/remat/anneal.h"
#include "plan/remat/recompute.h"
#include "plan/remat/schedule.h"
#include "plan/remat/segments.h"
#include "plan/work.h"
#include "train/compile.h"

namespace thimble::plan::recompute_test {
namespace {

// The training step of a model in an order in which the loss stands before all nodes that it does
// not need, as before recomputation.
ir::Graph step_of(const Graph& model, int64_t batch) {
  const ir::Graph step = train::training_graph(model.ir(), {.optimizer = SGD{}, .batch = batch},
                                               batch, train::StepKind::update);
  return orders_of(passes::optimize(step))[1];
}

Graph chain(int layers, const std::function<Value(Value)>& activation, bool norm) {
  Graph g;
  Value x = g.input("x", {8, 8, 4});
  for (int i = 0; i < layers; ++i) {
    x = conv2d(x, {.channels = 4, .kernel = 3, .padding = 1, .name = "c" + std::to_string(i)});
    if (norm) x = batch_norm(x, {.name = "n" + std::to_string(i)});
    x = activation(x);
  }
  g.minimize(mean(square(x)));
  return g;
}

Graph branches() {
  Graph g;
  const Value x = g.input("x", {8, 8, 4});
  const Value a = gelu(conv2d(x, {.channels = 4, .kernel = 3, .padding = 1, .name = "a"}));
  const Value b = gelu(conv2d(a, {.channels = 8, .kernel = 1, .name = "b"}));
  const Value c = gelu(conv2d(a, {.channels = 8, .kernel = 3, .padding = 1, .name = "c"}));
  g.minimize(mean(square(b * c)));
  return g;
}

Value gelus(Value x) { return gelu(x); }
Value relus(Value x) { return relu(x); }

int recomputed_nodes(const ir::Graph& graph) {
  int count = 0;
  for (const ir::ValueData& data : graph.values) count += data.recomputed ? 1 : 0;
  return count;
}

TEST(recompute, recomputes_activations_and_normalised_values_and_keeps_their_inputs) {
  for (const bool norm : {false, true}) {
    const ir::Graph before = step_of(chain(6, norm ? relus : gelus, norm), 4);
    const ir::Graph after = recompute(before, {});
    ir::verify(after);
    // One of two values per layer remains.
    EXPECT_LT(static_cast<double>(live_peak_bytes(after)),
              0.7 * static_cast<double>(live_peak_bytes(before)));
    for (const ir::Node& node : after.nodes) {
      const ir::ValueData& value = after.data(node.outputs[0]);
      if (value.recomputed) {
        EXPECT_EQ(node.op->kernels.flops, nullptr) << ir::label(value);
      }
    }
  }
}

TEST(recompute, recomputes_convolutions_where_it_may) {
  const ir::Graph before = step_of(chain(12, gelus, false), 4);
  const auto target =
      static_cast<int64_t>(0.6 * static_cast<double>(live_peak_bytes(recompute(before, {}))));
  const ir::Graph less = recompute(before, {.target_bytes = target, .any_op = true});
  ir::verify(less);
  EXPECT_LE(live_peak_bytes(less), target);
  // At most the forward part once more, which is a third of the work.
  EXPECT_LT(work_of(less), 1.34 * work_of(before));
  EXPECT_LT(live_peak_bytes(recompute(before, {.any_op = true})), target);
}

TEST(recompute, does_no_more_than_the_target_asks_for) {
  const ir::Graph before = step_of(chain(12, gelus, false), 4);
  const int64_t whole = live_peak_bytes(before);
  EXPECT_EQ(recomputed_nodes(recompute(before, {.target_bytes = whole, .any_op = true})), 0);
  double last = work_of(before);
  for (const double share : {0.9, 0.7, 0.5}) {
    const auto target = static_cast<int64_t>(share * static_cast<double>(whole));
    const ir::Graph graph = recompute(before, {.target_bytes = target, .any_op = true});
    EXPECT_LE(live_peak_bytes(graph), target);
    EXPECT_GE(work_of(graph), last);
    last = work_of(graph);
  }
}

// A 3x3 convolution takes 18 operations per input channel for each number of four bytes.
TEST(recompute, recomputes_products_of_few_operations_per_byte_within_the_slack) {
  for (const bool little : {true, false}) {
    const int64_t channels = little ? 32 : 64;  // 144 and 288 operations a byte
    Graph g;
    Value x = g.input("x", {16, 16, channels});
    for (int i = 0; i < 12; ++i) {
      x = gelu(conv2d(
          x, {.channels = channels, .kernel = 3, .padding = 1, .name = "c" + std::to_string(i)}));
    }
    g.minimize(mean(square(x)));
    const ir::Graph before = step_of(g, 64);  // bytes times work would fall for both
    const ir::Graph cheap = recompute(before, {});
    int64_t last = live_peak_bytes(cheap);
    for (const double slack : {0.04, 0.08, 0.16}) {
      const ir::Graph balanced = recompute(before, {.slack = slack});
      ir::verify(balanced);
      if (!little) {
        EXPECT_EQ(recomputed_nodes(balanced), recomputed_nodes(cheap));
        continue;
      }
      EXPECT_LT(live_peak_bytes(balanced), last) << slack;
      EXPECT_LE(work_of(balanced), work_of(cheap) + slack * work_of(before)) << slack;
      last = live_peak_bytes(balanced);
    }
  }
}

// Each freed byte is a smaller share if more bytes are needed anyway.
TEST(recompute, spends_slack_only_while_bytes_times_work_fall) {
  for (const int64_t width : {64, 40'000}) {
    Graph g;
    Value x = g.input("x", {16, 16, 300});
    for (const char* const name : {"a", "b", "c", "d"}) {
      x = gelu(conv2d(x, {.channels = 300, .kernel = 1, .name = name}));  // 150 operations a byte
    }
    const Value beside = dense(g.input("y", {300}), {.units = width, .name = "beside"});
    g.minimize(mean(square(x)) + mean(square(beside)));
    const ir::Graph before = step_of(g, 2);
    const ir::Graph cheap = recompute(before, {});
    const ir::Graph balanced = recompute(before, {.slack = 0.5});
    const auto space_time = [](const ir::Graph& graph) {
      return static_cast<double>(resident_bytes(graph, {}) + live_peak_bytes(graph)) *
             work_of(graph);
    };
    EXPECT_LE(space_time(balanced), space_time(cheap)) << width;
    EXPECT_EQ(recomputed_nodes(balanced) > recomputed_nodes(cheap), width == 64) << width;
  }
}

TEST(recompute, gives_the_smallest_step_if_the_target_is_out_of_reach) {
  for (const int layers : {12, 32}) {
    const ir::Graph before = step_of(chain(layers, gelus, layers == 32), 4);
    const ir::Graph smallest = recompute(before, {.any_op = true});
    const int64_t least = live_peak_bytes(smallest);
    const ir::Graph graph = recompute(before, {.target_bytes = least * 3 / 4, .any_op = true});
    EXPECT_EQ(live_peak_bytes(graph), least) << layers;
    EXPECT_EQ(work_of(graph), work_of(smallest)) << layers;
  }
}

TEST(recompute, leaves_graphs_without_a_loss) {
  Graph g;
  g.output("y", gelu(g.input("x", {4})));
  const ir::Graph graph = ir::with_batch(g.ir(), 3);
  EXPECT_EQ(recompute(graph, {}).nodes.size(), graph.nodes.size());
}

TEST(recompute, counts_recomputed_nodes_as_its_graph_does) {
  const ir::Graph graph = step_of(chain(5, relus, true), 4);
  const ScheduleBuilder builder(graph, {});
  std::vector<Recompute> recomputed(graph.nodes.size(), Recompute::no);
  for (int n = 0; n < builder.loss_node(); ++n) {
    recomputed[static_cast<size_t>(n)] = n % 3 == 0   ? Recompute::each
                                         : n % 3 == 1 ? Recompute::once
                                                      : Recompute::no;
  }
  const RematSchedule schedule = builder.build(recomputed);
  const ir::Graph built = builder.graph_of(schedule);
  ir::verify(built);
  EXPECT_EQ(schedule.peak_bytes, live_peak_bytes(built));
  EXPECT_EQ(schedule.entries.size(), built.nodes.size());
}

TEST(recompute, reuses_the_memory_of_an_earlier_trial) {
  const ir::Graph graph = step_of(chain(5, relus, true), 4);
  const ScheduleBuilder builder(graph, {});
  RematSchedule reused;
  for (int share = 1; share <= 4; ++share) {  // more and fewer recomputed nodes
    reused.recomputed.assign(graph.nodes.size(), Recompute::no);
    for (int n = 0; n < builder.loss_node(); ++n) {
      if (n * share % 5 > 1) reused.recomputed[static_cast<size_t>(n)] = Recompute::each;
    }
    builder.build(reused);
    const RematSchedule fresh = builder.build(reused.recomputed);
    ASSERT_EQ(reused.valid, fresh.valid);
    EXPECT_EQ(reused.entries.size(), fresh.entries.size());
    EXPECT_EQ(reused.original, fresh.original);
    EXPECT_EQ(reused.live, fresh.live);
    EXPECT_EQ(reused.peak, fresh.peak);
    EXPECT_EQ(reused.peak_bytes, fresh.peak_bytes);
    EXPECT_EQ(reused.sequence.values(), fresh.sequence.values());
  }
}

// The graph in an order in which a parameter is updated as early as can be.
ir::Graph updating_early(const ir::Graph& graph, const std::string& parameter) {
  std::vector<char> needed(graph.nodes.size(), 0);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const ir::Node& node = graph.nodes[n];
    for (const ir::Alias& update : node.op->memory.updates) {
      const int id = node.input(update.in);
      if (id >= 0 && *graph.data(id).name == parameter) needed[n] = 1;
    }
    if (graph.loss && graph.data(*graph.loss).producer == static_cast<int>(n)) needed[n] = 1;
    if (needed[n] == 0) continue;
    for (const int id : node.inputs) {
      if (id >= 0 && graph.data(id).producer >= 0) {
        needed[static_cast<size_t>(graph.data(id).producer)] = 1;
      }
    }
  }
  ir::Rewriter rewriter(graph);
  for (const char first : {1, 0}) {
    for (size_t n = 0; n < needed.size(); ++n) {
      if (needed[n] == first) rewriter.copy(graph.nodes[n]);
    }
  }
  return std::move(rewriter).finish();
}

// When the second gradient reads the first layer's output, the first layer's weight is updated
// already.
TEST(recompute, never_reads_a_parameter_after_its_update) {
  Graph g;
  const Value w = g.parameter("w", {16, 16}, init::normal(0.0, 0.1));
  const Value v = g.parameter("v", {16, 16}, init::normal(0.0, 0.1));
  g.minimize(mean(square(matmul(gelu(matmul(g.input("x", {16}), w)), v))));
  const ir::Graph graph = updating_early(step_of(g, 64), "w");
  const ScheduleBuilder builder(graph, {});
  RematSchedule schedule;
  for (const bool all : {true, false}) {  // in memory whose contents are invalid
    schedule.recomputed.assign(graph.nodes.size(), Recompute::no);
    for (int n = 0; n < builder.loss_node(); ++n) {
      if (all) schedule.recomputed[static_cast<size_t>(n)] = Recompute::each;
    }
    builder.build(schedule);
    EXPECT_EQ(schedule.valid, !all);
  }
  EXPECT_EQ(schedule.peak_bytes, live_peak_bytes(graph));
  EXPECT_NO_THROW(ir::verify(recompute_as_ordered(graph, {.any_op = true})));
  EXPECT_NO_THROW(ir::verify(recompute(graph, {.any_op = true})));
}

// The reshaped weight is read after the weight's update where that order is best.
TEST(recompute, does_not_count_a_view_of_a_parameter_as_free) {
  Graph g;
  const Value h = relu(dense(g.input("x", {16}), {.units = 16}));
  const Value w = g.parameter("w", {16}, init::normal(0.0, 0.1));
  g.minimize(mean(square(matmul(h, w))));
  const ir::Graph step =
      passes::optimize(train::training_graph(g.ir(), {.batch = 64}, 64, train::StepKind::update));
  const std::vector<ir::Graph> orders = orders_of(step, {});
  size_t views = 0;
  for (const ir::Graph& order : orders) {
    const ScheduleBuilder builder(order, {});
    std::vector<Recompute> recomputed(order.nodes.size(), Recompute::no);
    for (int n = 0; n < builder.loss_node(); ++n) {
      const ScheduleBuilder::RecomputeRule& rule = builder.rule(n);
      if (rule.op == nullptr || rule.op->memory.views.empty()) continue;
      const int viewed = rule.inputs[static_cast<size_t>(rule.op->memory.views.front().in)];
      EXPECT_EQ(rule.free, builder.bytes(viewed) != kPersistent);
      EXPECT_EQ(rule.work == 0.0, rule.free);
      views += rule.free ? 0 : 1;
      if (rule.free) recomputed[static_cast<size_t>(n)] = Recompute::each;
    }
    EXPECT_TRUE(builder.build(recomputed).valid);
  }
  EXPECT_GT(views, 0U);
  for (const bool any_op : {false, true}) {
    const ir::Graph result = recompute(orders, {.any_op = any_op});
    EXPECT_NO_THROW(ir::verify(result));
    EXPECT_FALSE(result.nodes.empty());
  }
}

Graph residual_blocks(int count) {
  Graph g;
  Value x = g.input("x", {16});
  for (int i = 0; i < count; ++i) x = relu(dense(x, {.units = 16})) + x;
  g.minimize(mean(square(x)));
  return g;
}

// Recomputing a block's input for both of its readers would recompute all blocks before it twice.
TEST(recompute, does_not_try_recomputation_that_doubles_with_every_block) {
  const ir::Graph graph = step_of(residual_blocks(24), 4);
  const ScheduleBuilder builder(graph, {});
  const auto all = [&](Recompute how) {
    std::vector<Recompute> recomputed(graph.nodes.size(), Recompute::no);
    for (int n = 0; n < builder.loss_node(); ++n) {
      if (builder.rule(n).op != nullptr) recomputed[static_cast<size_t>(n)] = how;
    }
    return builder.build(recomputed);
  };
  EXPECT_FALSE(all(Recompute::each).valid);
  const RematSchedule once = all(Recompute::once);
  EXPECT_TRUE(once.valid);
  EXPECT_LE(once.entries.size(), 2 * graph.nodes.size());
}

TEST(recompute, halves_the_memory_of_deep_residual_networks) {
  const Graph model = residual_blocks(24);
  const ir::Graph step = train::training_graph(model.ir(), {.optimizer = SGD{}, .batch = 4}, 4,
                                               train::StepKind::update);
  const std::vector<ir::Graph> orders = orders_of(passes::optimize(step), {});
  const ir::Graph least = recompute(orders, {.any_op = true});
  EXPECT_LT(live_peak_bytes(least, {}), live_peak_bytes(orders[0], {}) / 2);
  EXPECT_LE(least.nodes.size(), 9 * orders[0].nodes.size() + 1024);
}

// Each view is read after the loss, and recomputing it would recompute all views before it.
TEST(recompute, starts_without_views_where_they_would_run_too_often) {
  Graph g;
  Value x = g.input("x", {6});
  Value sum = mean(square(x));
  for (int i = 0; i < 300; ++i) {
    x = reshape(x, i % 2 == 0 ? Shape{-1, 2, 3} : Shape{-1, 6});
    sum = sum + mean(square(x * g.parameter("w" + std::to_string(i), {1}, init::zeros())));
  }
  g.minimize(sum);
  const ir::Graph graph = step_of(g, 4);
  const ScheduleBuilder builder(graph, {});
  std::vector<Recompute> views(graph.nodes.size(), Recompute::no);
  for (int n = 0; n < builder.loss_node(); ++n) {
    if (builder.rule(n).op != nullptr && builder.rule(n).free) {
      views[static_cast<size_t>(n)] = Recompute::each;
    }
  }
  ASSERT_FALSE(builder.build(views).valid);
  EXPECT_NO_THROW(ir::verify(recompute(graph, {})));
}

std::vector<char> all_forward(const ScheduleBuilder& builder) {
  std::vector<char> may(builder.graph().nodes.size(), 0);
  for (int n = 0; n < builder.loss_node(); ++n) may[static_cast<size_t>(n)] = 1;
  return may;
}

TEST(recompute, can_start_from_segments_of_which_only_the_ends_are_kept) {
  const ir::Graph graph = step_of(chain(12, gelus, false), 4);
  const ScheduleBuilder builder(graph, {});
  const Segments segments(builder, all_forward(builder));
  const RematSchedule whole = builder.build(segments.start(1));
  for (const int count : {2, 3, 4}) {
    const std::vector<Recompute> recomputed = segments.start(count);
    int kept = 0;
    for (int n = 0; n < builder.loss_node(); ++n) {
      kept += recomputed[static_cast<size_t>(n)] == Recompute::no ? 1 : 0;
    }
    EXPECT_EQ(kept, count - 1);  // one value crosses the end of a segment in a chain
    const RematSchedule schedule = builder.build(recomputed);
    EXPECT_TRUE(schedule.valid);
    EXPECT_LT(schedule.peak_bytes, whole.peak_bytes);
    EXPECT_LE(extra_work(builder, schedule), extra_work(builder, whole));
  }
}

TEST(recompute, anneals_towards_a_target_and_never_to_a_worse_choice) {
  const ir::Graph graph = step_of(chain(8, gelus, false), 4);
  const ScheduleBuilder builder(graph, {});
  std::vector<int> open;
  for (int n = 0; n < builder.loss_node(); ++n) open.push_back(n);
  const RematSchedule everything_kept =
      builder.build(std::vector<Recompute>(graph.nodes.size(), Recompute::no));
  const int64_t target = everything_kept.peak_bytes * 6 / 10;
  const RematSchedule found = anneal(builder, open, everything_kept, target);
  EXPECT_TRUE(found.valid);
  EXPECT_LE(found.peak_bytes, target);
  EXPECT_EQ(anneal(builder, open, everything_kept, target).recomputed, found.recomputed);
  const RematSchedule better = anneal(builder, open, found, target);
  EXPECT_LE(better.peak_bytes, target);
  EXPECT_LE(extra_work(builder, better), extra_work(builder, found));
}

// All choices of nodes to recompute, once or for each reader, by trying every one.
class Exhaustive {
 public:
  explicit Exhaustive(const ScheduleBuilder& builder) : builder_(builder) {
    std::vector<Recompute> recomputed(builder.graph().nodes.size(), Recompute::no);
    for (int n = 0; n < builder.loss_node(); ++n) {
      const ScheduleBuilder::RecomputeRule& rule = builder.rule(n);
      if (rule.op != nullptr && rule.free) recomputed[static_cast<size_t>(n)] = Recompute::each;
      if (rule.op != nullptr && !rule.free) open_.push_back(n);
    }
    visit(recomputed, 0);
  }
  // The least work of a step within so many bytes.
  [[nodiscard]] std::optional<double> least_work(int64_t bytes) const {
    std::optional<double> least;
    for (const auto& [peak, work] : found_) {
      if (peak <= bytes && (!least || work < *least)) least = work;
    }
    return least;
  }
  [[nodiscard]] int64_t least_bytes() const {
    return std::min_element(found_.begin(), found_.end())->first;
  }
  [[nodiscard]] size_t tried() const { return found_.size(); }

 private:
  void visit(std::vector<Recompute>& recomputed, size_t at) {
    if (at == open_.size()) {
      const RematSchedule schedule = builder_.build(recomputed);
      if (schedule.valid)
        found_.emplace_back(schedule.peak_bytes, work_of(builder_.graph_of(schedule)));
      return;
    }
    Recompute& here = recomputed[static_cast<size_t>(open_[at])];
    for (const Recompute how : {Recompute::no, Recompute::once, Recompute::each}) {
      here = how;
      visit(recomputed, at + 1);
    }
    here = Recompute::no;
  }

  const ScheduleBuilder& builder_;
  std::vector<int> open_;
  std::vector<std::pair<int64_t, double>> found_;
};

TEST(recompute, is_near_the_best_choice_on_small_graphs) {
  double sum = 0.0;
  double least_sum = 0.0;
  for (const ir::Graph& graph : {step_of(chain(3, gelus, false), 4),
                                 step_of(chain(4, relus, false), 4), step_of(branches(), 4)}) {
    const ScheduleBuilder builder(graph, {});
    const Exhaustive best(builder);
    ASSERT_GT(best.tried(), 50U);
    const int64_t whole = live_peak_bytes(graph);
    const int64_t least = live_peak_bytes(recompute_as_ordered(graph, {.any_op = true}));
    EXPECT_LE(static_cast<double>(least), 1.1 * static_cast<double>(best.least_bytes()));
    for (const double share : {0.0, 0.25, 0.5, 0.75}) {
      const auto target = least + static_cast<int64_t>(share * static_cast<double>(whole - least));
      const ir::Graph mine = recompute(graph, {.target_bytes = target, .any_op = true});
      EXPECT_LE(live_peak_bytes(mine), target);
      const double extra = work_of(mine) - work_of(graph);
      const double least_extra = best.least_work(target).value_or(0.0) - work_of(graph);
      EXPECT_LE(extra, 1.35 * least_extra + 1.0) << "target " << target << " of " << whole;
      sum += extra;
      least_sum += least_extra;
    }
  }
  EXPECT_LE(sum, 1.05 * least_sum);
}

}  // namespace
}  // namespace thimble::plan::recompute_test
