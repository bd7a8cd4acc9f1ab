// Orders of nodes: the memory they save, that orders of small graphs are optimal, and their rules.
#include "plan/order/order.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "models/small_models.h"
#include "passes/passes.h"
#include "plan/lifetimes.h"
#include "plan/order/search.h"
#include "train/compile.h"

namespace thimble::plan::order_test {
namespace {

constexpr int64_t kRow = 64;  // elements of the unit of the sizes here: 256 B

int64_t rows(int64_t count) { return count * kRow * 4; }

Value source(ir::Graph& g, const std::string& name, int64_t size) {
  return g.source(name, {DType::f32, {size, kRow}}, ir::Role::input);
}

// `times` as large as x.
Value widened(Value x, int times) {
  return concat(std::vector<Value>(static_cast<size_t>(times), x), {.axis = 0});
}
Value first_rows(Value x, int64_t size) { return slice(x, 0, 0, size); }

// Each branch widens x and then keeps little of it; the natural order widens all branches first.
ir::Graph branches(int count, int wide) {
  ir::Graph g;
  const Value x = source(g, "x", 1);
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) values.push_back(widened(x, wide));
  for (Value& value : values) value = first_rows(value, 1);
  g.outputs = {{"y", concat(values, {.axis = 0}).id()}};
  return g;
}

// The peak of an order by the plan's own count.
int64_t true_peak(const ir::Graph& graph, const std::vector<int>& order) {
  const std::vector<int64_t> wanted = workspaces(graph, {});
  Sequence sequence(value_bytes(graph), graph.results());
  for (const int n : order) {
    const ir::Node& node = graph.nodes[static_cast<size_t>(n)];
    sequence.add(*node.op, node.inputs, node.outputs, wanted[static_cast<size_t>(n)]);
  }
  const std::vector<int64_t> live = live_bytes(sequence, Sharing(sequence, true));
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

TEST(order, finishes_one_branch_before_the_next) {
  const ir::Graph graph = branches(6, 10);
  EXPECT_EQ(live_peak_bytes(graph), rows(61));
  const OrderProblem problem(graph, {});
  const NodeOrder order = best_order(problem);
  // The widened rows of the last branch beside x and what the others have kept.
  EXPECT_EQ(order.peak_bytes, rows(1 + 10 + 5));
  EXPECT_TRUE(order.optimal);
  EXPECT_EQ(live_peak_bytes(order_nodes(graph)), rows(16));
}

// Two chains that end in one sum. One takes up to 12 rows and leaves 1, the other takes up to 7 and
// leaves 5. Running the chain with the lower peak first keeps 5 rows beside the 12; running the
// other first keeps only x, which the first chain still reads.
TEST(order, takes_the_chain_with_the_higher_hill_and_the_deeper_valley_first) {
  ir::Graph g;
  const Value x = source(g, "x", 1);
  const Value low = first_rows(widened(x, 7), 5);
  const Value high = first_rows(widened(x, 12), 1);
  g.outputs = {{"y", concat({low, high}, {.axis = 0}).id()}};
  EXPECT_EQ(live_peak_bytes(g), rows(5 + 12 + 1));
  const NodeOrder order = best_order(OrderProblem(g, {}));
  EXPECT_EQ(order.peak_bytes, rows(1 + 12 + 1));
  EXPECT_TRUE(order.optimal);
}

// A tree of sums: of two children the one that needs more memory goes first (Sethi and Ullman,
// 1970).
TEST(order, evaluates_the_larger_part_of_a_tree_first) {
  ir::Graph g;
  int leaves = 0;
  const std::function<Value(int)> tree = [&](int depth) {
    const Value x = source(g, "x" + std::to_string(leaves++), 1);
    if (depth == 0) return widened(x, 3);
    const Value right = widened(x, 3);
    return right + tree(depth - 1);
  };
  g.outputs = {{"y", tree(6).id()}};
  const NodeOrder order = best_order(OrderProblem(g, {}));
  EXPECT_TRUE(order.optimal);
  EXPECT_EQ(live_peak_bytes(g), rows(6 * 3 + 1 + 3));
  EXPECT_EQ(order.peak_bytes, rows(3 + 1 + 3 + 5));  // with the sources that wait
}

TEST(order, runs_through_diamonds_one_after_the_other) {
  ir::Graph g;
  std::vector<Value> ends;
  for (int i = 0; i < 4; ++i) ends.push_back(source(g, "x" + std::to_string(i), 1));
  for (int i = 0; i < 3; ++i) {
    for (Value& end : ends) {
      const Value wide = widened(end, 8);
      end = first_rows(exp(wide) + tanh(wide), 1);
    }
  }
  g.outputs = {{"y", concat(ends, {.axis = 0}).id()}};
  const OrderProblem problem(g, {});
  const NodeOrder order = best_order(problem);
  EXPECT_TRUE(order.optimal);
  // The wide value and its two images are live in a diamond, one of them in place.
  EXPECT_EQ(order.peak_bytes, rows(16 + 3));
}

TEST(order, leaves_a_chain_as_it_is) {
  ir::Graph g;
  Value x = source(g, "x", 3);
  for (int i = 0; i < 5; ++i) x = first_rows(exp(widened(x, 2)), 3);
  g.outputs = {{"y", x.id()}};
  const ir::Graph ordered = order_nodes(g);
  ASSERT_EQ(ordered.nodes.size(), g.nodes.size());
  for (size_t n = 0; n < g.nodes.size(); ++n) EXPECT_EQ(ordered.nodes[n].op, g.nodes[n].op);
}

TEST(order, takes_empty_graphs) {
  ir::Graph g;
  EXPECT_EQ(order_nodes(g).nodes.size(), 0U);
  const Value x = source(g, "x", 2);
  g.outputs = {{"y", x.id()}};
  EXPECT_EQ(order_nodes(g).nodes.size(), 0U);
}

// A graph of ops that work in place, are views, or produce values of other sizes.
ir::Graph random_graph(std::mt19937_64& random, int nodes) {
  ir::Graph g;
  std::vector<Value> values;
  const auto pick = [&] { return values[random() % values.size()]; };
  for (uint64_t i = 0; i < 1 + random() % 3; ++i) {
    values.push_back(source(g, "x" + std::to_string(i), 1 + static_cast<int64_t>(random() % 4)));
  }
  while (static_cast<int>(g.nodes.size()) < nodes) {
    const Value x = pick();
    const int64_t size = x.shape()[0];
    switch (random() % 6) {
      case 0:
        values.push_back(exp(x));
        break;
      case 1:
        values.push_back(reshape(x, {size, kRow}));
        break;
      case 2:
        values.push_back(concat({x, pick()}, {.axis = 0}));
        break;
      case 3:
        values.push_back(softmax(x));
        break;
      case 4:
        values.push_back(
            first_rows(x, 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(size))));
        break;
      default: {
        const Value y = pick();
        if (y.shape() == x.shape()) values.push_back(x * y);
      }
    }
  }
  for (uint64_t i = 0; i <= random() % 2; ++i)
    g.outputs.emplace_back("y" + std::to_string(i), pick().id());
  return g;
}

// The least peak of all orders, by trying every one.
class Exhaustive {
 public:
  Exhaustive(const ir::Graph& graph, const OrderProblem& problem) : graph_(graph), run_(problem) {
    visit();
  }
  [[nodiscard]] int64_t least() const { return least_; }
  [[nodiscard]] int64_t orders() const { return orders_; }

 private:
  void visit() {
    if (run_.done()) {
      ++orders_;
      const int64_t peak = true_peak(graph_, run_.order());
      least_ = orders_ == 1 ? peak : std::min(least_, peak);
      return;
    }
    const std::vector<int> ready = run_.ready();
    for (const int node : ready) {
      run_.run(node);
      visit();
      run_.undo();
    }
  }

  const ir::Graph& graph_;
  OrderRun run_;
  int64_t least_ = 0;
  int64_t orders_ = 0;
};

TEST(order, is_the_best_of_all_orders_of_small_graphs) {
  std::mt19937_64 random(7);
  int better_than_natural = 0;
  int64_t orders = 0;
  for (int i = 0; i < 400; ++i) {
    const ir::Graph graph = random_graph(random, 4 + static_cast<int>(random() % 5));
    const OrderProblem problem(graph, {});
    const NodeOrder order = best_order(problem);
    const Exhaustive all(graph, problem);
    orders += all.orders();
    ASSERT_TRUE(order.optimal) << ir::text(graph);
    ASSERT_EQ(order.peak_bytes, all.least()) << ir::text(graph);
    ASSERT_EQ(true_peak(graph, order.nodes), all.least()) << ir::text(graph);
    ASSERT_LE(order_bound(problem), all.least()) << ir::text(graph);
    better_than_natural += all.least() < peak_of(problem, problem.natural()) ? 1 : 0;
  }
  EXPECT_GT(orders, 20'000);
  EXPECT_GT(better_than_natural, 50);
}

// The model that the searches work on counts like the plan, whatever the order.
TEST(order, counts_bytes_as_the_plan_does) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const ir::Graph graph = random_graph(random, 30);
    const OrderProblem problem(graph, {});
    OrderRun run(problem);
    std::vector<OrderRun> before;
    while (!run.done()) {
      before.push_back(run);
      run.run(run.ready()[random() % run.ready().size()]);
    }
    ASSERT_EQ(peak_of(problem, run.order()), true_peak(graph, run.order())) << ir::text(graph);
    while (!before.empty()) {
      run.undo();
      ASSERT_EQ(run.live(), before.back().live());
      ASSERT_EQ(run.ready(), before.back().ready());
      ASSERT_EQ(run.key(), before.back().key());
      before.pop_back();
    }
  }
}

// Some nodes that make values of all sizes, and as many results that each read several of them.
ir::Graph tangle(std::mt19937_64& random, int nodes) {
  ir::Graph g;
  const Value x = source(g, "x", 1);
  std::vector<Value> values;
  while (static_cast<int>(g.nodes.size()) < nodes / 2) {
    values.push_back(widened(x, 1 + static_cast<int>(random() % 9)));
  }
  while (static_cast<int>(g.nodes.size()) < nodes) {
    std::vector<Value> parts;
    for (uint64_t i = 0; i < 2 + random() % 3; ++i)
      parts.push_back(values[random() % values.size()]);
    g.outputs.emplace_back("y" + std::to_string(g.nodes.size()), concat(parts, {.axis = 0}).id());
  }
  return g;
}

TEST(order, is_exact_up_to_the_published_number_of_nodes) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 30; ++i) {
    const ir::Graph graph =
        i % 3 == 0 ? tangle(random, kExactNodes) : random_graph(random, kExactNodes);
    const OrderProblem problem(graph, {});
    ASSERT_EQ(problem.size(), kExactNodes);
    const NodeOrder order = best_order(problem);
    EXPECT_TRUE(order.optimal);
    EXPECT_EQ(order.nodes, best_order(problem).nodes);
  }
}

}  // namespace
}  // namespace thimble::plan::order_test
