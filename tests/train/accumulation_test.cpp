#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <cmath>
#include <random>

#include "autodiff/autodiff.h"
#include "stepper.h"
#include "train/update.h"

namespace thimble::train::accumulation_test {
namespace {

using test::Stepper;

// Sums in another order, and the means of means, round differently.
constexpr double kRoundings = 1e-5;

constexpr int64_t kFeatures = 3;

enum class Kind { whole, add, finish };

// A small regression of two layers; its step on a batch.
ir::Graph step_graph(int64_t batch, Kind kind, const UpdateOptions& options, double weight = 1.0) {
  Graph model;
  const Value x = model.input("x", {kFeatures});
  const Value y = model.input("y", {2});
  const Value hidden = relu(dense(x, {.units = 5, .name = "hidden"}));
  const Value difference = dense(hidden, {.units = 2, .name = "out"}) - y;
  model.minimize(mean(difference * difference));
  ir::Graph graph = ir::with_batch(model.ir(), batch);
  const auto gradients = autodiff::append_loss_gradients(graph);
  switch (kind) {
    case Kind::whole:
      append_updates(graph, gradients, options);
      break;
    case Kind::add:
      append_accumulation(graph, gradients, weight);
      break;
    case Kind::finish:
      append_accumulated_updates(graph, gradients, options, weight);
      break;
  }
  return graph;
}

std::vector<float> random_numbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(random);
  return values;
}

std::vector<float> rows(const std::vector<float>& all, int64_t width, int64_t begin,
                        int64_t count) {
  const auto first = all.begin() + begin * width;
  return {first, first + count * width};
}

// Runs one graph of the stepper on rows [begin, begin + count) of the data of an update.
void run(Stepper& stepper, size_t graph, int update, int64_t begin, int64_t count,
         float total_weight = 0.0F) {
  constexpr int64_t kRows = 12;
  const unsigned seed = static_cast<unsigned>(update);
  stepper.set("x", rows(random_numbers(kRows * kFeatures, seed), kFeatures, begin, count), graph);
  stepper.set("y", rows(random_numbers(kRows * 2, seed + 100), 2, begin, count), graph);
  stepper.set<float>(kLearningRateName, {0.05F}, graph);
  stepper.set<int32_t>(kUpdateNumberName, {update}, graph);
  stepper.set<float>(kTotalWeightName, {total_weight}, graph);
  ASSERT_TRUE(stepper.run(graph));
}

void expect_equal_parameters(const Stepper& got, const Stepper& wanted) {
  for (const char* name : {"hidden.weight", "hidden.bias", "out.weight", "out.bias"}) {
    const std::vector<float> a = got.stored(name);
    const std::vector<float> b = wanted.stored(name);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], kRoundings) << name << " " << i;
    for (const float sum : got.stored(std::string(name) + ".grad_sum")) EXPECT_EQ(sum, 0.0F);
  }
}

class AccumulationTest : public testing::TestWithParam<GradientClip> {
 protected:
  [[nodiscard]] UpdateOptions options() const {
    return {.optimizer = SGD{.momentum = 0.9, .weight_decay = 0.01}, .clip = GetParam()};
  }
};

TEST_P(AccumulationTest, of_equal_micro_batches_equals_one_big_batch) {
  const ir::Graph whole = step_graph(12, Kind::whole, options());
  const ir::Graph add = step_graph(4, Kind::add, options());
  const ir::Graph finish = step_graph(4, Kind::finish, options());
  Stepper big({&whole});
  Stepper micro({&add, &finish});
  const std::vector<float> before = big.stored("hidden.weight");
  for (int update = 1; update <= 3; ++update) {
    run(big, 0, update, 0, 12);
    run(micro, 0, update, 0, 4);
    run(micro, 0, update, 4, 4);
    run(micro, 1, update, 8, 4, 3.0F);
    expect_equal_parameters(micro, big);
  }
  EXPECT_NE(big.stored("hidden.weight"), before);
}

TEST_P(AccumulationTest, weighs_a_smaller_micro_batch_by_its_share) {
  const ir::Graph whole = step_graph(10, Kind::whole, options());
  const ir::Graph add = step_graph(4, Kind::add, options());
  const ir::Graph finish = step_graph(2, Kind::finish, options(), 0.5);
  Stepper big({&whole});
  Stepper micro({&add, &finish});
  for (int update = 1; update <= 3; ++update) {
    run(big, 0, update, 0, 10);
    run(micro, 0, update, 0, 4);
    run(micro, 0, update, 4, 4);
    run(micro, 1, update, 8, 2, 2.5F);
    expect_equal_parameters(micro, big);
  }
}

INSTANTIATE_TEST_SUITE_P(accumulation, AccumulationTest,
                         testing::Values(GradientClip{}, GradientClip::by_global_norm(0.1)),
                         [](const testing::TestParamInfo<GradientClip>& info) -> std::string {
                           return info.param.limit > 0 ? "clipped" : "free";
                         });

TEST(accumulation, leaves_parameters_alone_until_the_last_micro_batch) {
  const ir::Graph add = step_graph(4, Kind::add, {});
  const ir::Graph finish = step_graph(4, Kind::finish, {});
  Stepper micro({&add, &finish});
  const std::vector<float> before = micro.stored("out.weight");
  run(micro, 0, 1, 0, 4);
  EXPECT_EQ(micro.stored("out.weight"), before);
  EXPECT_THAT(micro.stored("out.weight.grad_sum"), testing::Contains(testing::Ne(0.0F)));
}

TEST(accumulation, refuses_a_weight_of_nothing) {
  EXPECT_THROW(step_graph(4, Kind::add, {}, 0.0), Error);
  EXPECT_THROW(step_graph(4, Kind::finish, {}, -1.0), Error);
}

// Each update runs as soon as its gradient is known: no two large gradients are alive at once.
TEST(update, lets_gradients_be_short_lived) {
  const auto arena_bytes = [](const GradientClip& clip) {
    Graph model;
    Value h = model.input("x", {64});
    for (int i = 0; i < 6; ++i) h = relu(dense(h, {.units = 64}));
    model.minimize(mean(h));
    ir::Graph graph = ir::with_batch(model.ir(), 1);
    const auto gradients = autodiff::append_loss_gradients(graph);
    append_updates(graph, gradients, {.clip = clip});
    // Reference kernels: workspaces are not what is measured.
    return exec::Program(graph, {.fast = false}).plan().arena_bytes;
  };
  constexpr int64_t kWeightBytes = int64_t{64} * 64 * 4;
  EXPECT_LT(arena_bytes({}), 2 * kWeightBytes);
  EXPECT_LT(arena_bytes(GradientClip::by_tensor_norm(1.0)), 2 * kWeightBytes);
  EXPECT_GT(arena_bytes(GradientClip::by_global_norm(1.0)), 6 * kWeightBytes);
}

}  // namespace
}  // namespace thimble::train::accumulation_test
