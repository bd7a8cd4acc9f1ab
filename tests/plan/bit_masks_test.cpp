// Bit masks that replace values kept for the backward pass: where they are used, and where not.
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>
#include <functional>

#include "passes/passes.h"
#include "plan/lifetimes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "plan/remat/storage.h"
#include "train/compile.h"
#include "train/stepper.h"
#include "train/update.h"

namespace thimble::plan::bit_masks_test {
namespace {

ir::Graph step_of(const Graph& model) {
  const ir::Graph step = train::training_graph(model.ir(), {.optimizer = SGD{}, .batch = 4}, 4,
                                               train::StepKind::update);
  return order_nodes(passes::optimize(step));
}

// A convolution whose activation is read by a pooling and, in the backward pass, only by its own
// gradient.
Graph pooled(const std::function<Value(Value)>& activation) {
  Graph g;
  Value x = conv2d(g.input("x", {16, 16, 3}), {.channels = 8, .kernel = 3, .name = "a"});
  x = average_pool2d(activation(x), {.kernel = 2});
  x = conv2d(x, {.channels = 8, .kernel = 3, .name = "b"});
  g.minimize(mean(square(x)));
  return g;
}

int masks_of(const ir::Graph& graph) {
  int count = 0;
  for (const ir::ValueData& data : graph.values) {
    if (data.storage != ir::Storage::bits) continue;
    EXPECT_EQ(data.type.dtype, DType::boolean);
    ++count;
  }
  return count;
}

TEST(bit_masks, replace_inputs_of_piecewise_linear_activations) {
  const std::function<Value(Value)> activations[] = {
      [](Value x) { return relu(x); },
      [](Value x) { return relu6(x); },
      [](Value x) { return hard_tanh(x); },
      [](Value x) { return threshold(x, {.threshold = 0.1, .value = -1.0}); },
      [](Value x) { return leaky_relu(x); },
      [](Value x) { return softshrink(x); },
      [](Value x) { return hardshrink(x); },
      [](Value x) { return clip(x, {.low = -1.0, .high = 1.0}); }};
  for (const auto& activation : activations) {
    const ir::Graph before = step_of(pooled(activation));
    const ir::Graph after = keep_bit_masks({&before, 1}, {})[0];
    ir::verify(after);
    EXPECT_EQ(masks_of(after), 1);
    EXPECT_LT(live_peak_bytes(recompute(after, {})), live_peak_bytes(recompute(before, {})));
  }
}

// Eight stages, each a convolution, an activation and a pooling with overlapping windows.
Graph many_activations() {
  const std::function<Value(Value)> activations[] = {
      [](Value x) { return relu(x); },
      [](Value x) { return relu6(affine(x, {.scale = 9.0})); },
      [](Value x) { return hard_tanh(x); },
      [](Value x) { return threshold(x, {.threshold = 0.1, .value = -1.0}); },
      [](Value x) { return leaky_relu(x, {.slope = -0.3}); },
      [](Value x) { return softshrink(x, {.lambd = 0.2}); },
      [](Value x) { return hardshrink(x, {.lambd = 0.2}); },
      [](Value x) { return clip(x, {.low = -0.3, .high = 0.2}); }};
  Graph g;
  Value x = g.input("x", {16, 16, 3});
  for (const auto& activation : activations) {
    x = activation(conv2d(x, {.channels = 8, .kernel = 3, .padding = 1}));
    x = max_pool2d(x, {.kernel = 2, .stride = 1});
  }
  g.minimize(mean(square(x)));
  return g;
}

// The loss of three steps, and every parameter after them.
std::vector<std::vector<float>> trained(const ir::Graph& graph) {
  test::Stepper stepper({&graph}, {.optimize = false});
  std::vector<std::vector<float>> results;
  for (int step = 0; step < 3; ++step) {
    std::vector<float> x(4 * 16 * 16 * 3);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(0.37F * static_cast<float>(i % 97 * (i % 5 + 1)) + static_cast<float>(step));
    }
    stepper.set("x", x);
    stepper.set(train::kLearningRateName, std::vector<float>{0.05F});
    stepper.set(train::kUpdateNumberName, std::vector<int32_t>{step + 1});
    EXPECT_TRUE(stepper.run());
    results.push_back(test::floats(stepper.session().loss()));
  }
  for (const exec::Store::Entry& entry : stepper.store().entries()) {
    results.push_back(stepper.stored(entry.name));
  }
  return results;
}

TEST(bit_masks, change_no_bit_of_losses_and_weights) {
  const ir::Graph before = step_of(many_activations());
  const ir::Graph after = keep_bit_masks({&before, 1}, {})[0];
  EXPECT_GT(masks_of(after), 8);
  EXPECT_EQ(trained(after), trained(before));
}

TEST(bit_masks, are_not_made_of_values_whose_elements_gradients_read) {
  const std::function<Value(Value)> activations[] = {
      [](Value x) { return gelu(x); }, [](Value x) { return leaky_relu(x, {.slope = 0.0}); }};
  for (const auto& activation : activations) {
    const ir::Graph before = step_of(pooled(activation));
    EXPECT_EQ(masks_of(keep_bit_masks({&before, 1}, {})[0]), 0);
  }
}

TEST(bit_masks, leave_a_step_whose_peak_they_do_not_lower) {
  Graph g;
  // The peak is at the wide product, before the small activation.
  const Value x = g.input("x", {4});
  const Value wide = gelu(dense(x, {.units = 4000, .name = "wide"}));
  const Value small = relu(dense(wide, {.units = 8, .name = "small"}));
  g.minimize(mean(square(affine(small, {.scale = 2.0}))));
  const ir::Graph before = step_of(g);
  EXPECT_EQ(masks_of(keep_bit_masks({&before, 1}, {})[0]), 0);
}

TEST(bit_masks, leave_graphs_without_a_loss) {
  Graph g;
  g.output("y", relu(g.input("x", {4})));
  const ir::Graph graph = ir::with_batch(g.ir(), 3);
  EXPECT_EQ(keep_bit_masks({&graph, 1}, {})[0].nodes.size(), graph.nodes.size());
}

}  // namespace
}  // namespace thimble::plan::bit_masks_test
