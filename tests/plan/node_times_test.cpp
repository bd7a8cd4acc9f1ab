// Predicted run times of nodes.
#include "plan/node_times.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>

#include <string>

#include "passes/passes.h"
#include "plan/budget/search.h"
#include "plan/work.h"
#include "train/compile.h"

namespace thimble::plan::node_times_test {
namespace {

// Two convolutions and their gradients.
ir::Graph step_of(int64_t dilation) {
  Graph g;
  Value x = g.input("x", {32, 32, 64});
  for (const char* const name : {"a", "b"}) {
    x = conv2d(x, {.channels = 64,
                   .kernel = 3,
                   .padding = dilation,
                   .dilation = dilation,
                   .bias = false,
                   .name = name});
  }
  g.minimize(mean(square(x)));
  return passes::optimize(
      train::training_graph(g.ir(), {.optimizer = SGD{}, .batch = 8}, 8, train::StepKind::update));
}

struct Work {
  int convolutions = 0;
  double flops = 0.0, ms = 0.0;
};

Work convolutions_of(const ir::Graph& graph, bool fast = true) {
  NodeTimes times;
  times.set_kernels(fast);
  Work work;
  for (const ir::Node& node : graph.nodes) {
    if (std::string(node.op->name).rfind("conv2d", 0) != 0) continue;
    ++work.convolutions;
    work.flops += flops_of(graph, node);
    work.ms += times.of(graph, node);
  }
  return work;
}

// Of the same formula, a dilated convolution has no tiles that save products.
TEST(node_times, of_a_convolution_are_those_of_its_algorithm) {
  const Work tiles = convolutions_of(step_of(1));
  const Work direct = convolutions_of(step_of(2));
  EXPECT_EQ(tiles.convolutions, 5);  // no gradient of the images
  EXPECT_EQ(direct.convolutions, 5);
  EXPECT_EQ(tiles.flops, direct.flops);
  EXPECT_LT(tiles.ms, 0.5 * direct.ms);
  EXPECT_GT(tiles.ms, 0.25 * direct.ms);
}

TEST(node_times, of_reference_kernels_are_those_of_the_formula) {
  const Work tiles = convolutions_of(step_of(1), false);
  const Work direct = convolutions_of(step_of(2), false);
  EXPECT_EQ(tiles.flops, direct.flops);
  EXPECT_EQ(tiles.ms, direct.ms);
  EXPECT_EQ(direct.ms, convolutions_of(step_of(2)).ms);
  NodeTimes reference;
  reference.set_kernels(false);
  EXPECT_NE(reference.text(), NodeTimes().text());
}

// A budget predicts the time of the kernels that it plans for.
TEST(node_times, of_a_plan_are_those_of_its_kernels) {
  const ir::Graph step = step_of(1);
  const auto predicted = [&step](bool fast) {
    const Budget budget{.bytes = int64_t{1} << 30};
    return fit(step, {.fast = fast}, budget).arena.plan.step_ms;
  };
  NodeTimes reference;
  reference.set_kernels(false);
  EXPECT_DOUBLE_EQ(predicted(false), reference.of(step));
  EXPECT_LT(predicted(true), 0.5 * predicted(false));
}

}  // namespace
}  // namespace thimble::plan::node_times_test
