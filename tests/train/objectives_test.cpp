// Several losses in one training, each for some of the parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "io/temporary_folder.h"

namespace thimble::objectives_test {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr int64_t kBatch = 6;

// Two layers in a row: "first" is trained to make the result of "second" large, "second" to make it
// equal the target.
Graph contest(bool first_only = false) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value h = tanh(dense(x, {.units = 5, .name = "first"}));
  const Value y = dense(h, {.units = 1, .name = "second"});
  const Value error = y - g.label("y", {1}, DType::f32);
  const Value fit = mean(error * error);
  const Value large = mean(y) * -1.0;
  g.minimize(first_only ? large : fit);
  g.metric("fit", fit);
  g.metric("large", large);
  return g;
}

data::Dataset samples() {
  std::vector<float> x;
  std::vector<float> y;
  for (int64_t i = 0; i < kBatch; ++i) {
    for (int64_t k = 0; k < 4; ++k) x.push_back(std::sin(static_cast<float>(5 * i + 3 * k)));
    y.push_back(std::cos(static_cast<float>(i)));
  }
  return data::in_memory({{"x", {4}}, {"y", {1}, DType::f32, true}}, {x, y});
}

TrainerOptions options() {
  return {.optimizer = SGD{.lr = 0.1},
          .objectives = {{.loss = "large", .parameters = "first.*"},
                         {.loss = "fit", .parameters = "second.*"}},
          .batch = kBatch,
          .threads = 1};
}

// The gradients are those of a training with each loss alone, from the same weights.
TEST(objectives, give_each_parameter_the_gradient_of_its_loss) {
  Trainer both(contest(), options());
  const Gradients gradients = both.gradients(samples());
  const Gradients large = Trainer(contest(true), {.batch = kBatch}).gradients(samples());
  const Gradients fit = Trainer(contest(), {.batch = kBatch}).gradients(samples());
  ASSERT_EQ(gradients.values.size(), 4U);
  for (const char* name : {"first.weight", "first.bias"}) {
    EXPECT_EQ(gradients.values.at(name), large.values.at(name)) << name;
    EXPECT_NE(gradients.values.at(name), fit.values.at(name)) << name;
  }
  for (const char* name : {"second.weight", "second.bias"}) {
    EXPECT_EQ(gradients.values.at(name), fit.values.at(name)) << name;
  }
  EXPECT_EQ(gradients.batch.metrics.at("large"), large.batch.loss);
}

TEST(objectives, update_all_parameters_by_gradients_at_the_values_before_the_step) {
  Trainer both(contest(), options());
  const Gradients gradients = both.gradients(samples());
  std::map<std::string, std::vector<float>> before;
  for (const auto& [name, values] : gradients.values) before[name] = both.parameter(name).floats();
  both.step(samples());
  constexpr double kRounding = 1e-7;
  for (const auto& [name, gradient] : gradients.values) {
    const std::vector<float> values = gradient.floats();
    const std::vector<float> after = both.parameter(name).floats();
    for (size_t i = 0; i < after.size(); ++i) {
      EXPECT_NEAR(after[i], before[name][i] - 0.1F * values[i], kRounding) << name;
    }
  }
}

TEST(objectives, leave_the_rest_to_the_loss_of_the_graph) {
  TrainerOptions wanted = options();
  wanted.objectives.pop_back();
  EXPECT_EQ(Trainer(contest(), wanted).gradients(samples()).values,
            Trainer(contest(), options()).gradients(samples()).values);
}

TEST(objectives, have_optimizers_of_their_own) {
  TrainerOptions wanted = options();
  wanted.objectives[0].optimizer = Adam{.lr = 0.05};
  Trainer mixed(contest(), wanted);
  TrainerOptions adam = options();
  adam.optimizer = Adam{.lr = 0.05};
  Trainer all_adam(contest(), adam);
  Trainer all_sgd(contest(), options());
  for (Trainer* const each : {&mixed, &all_adam, &all_sgd}) each->step(samples());
  constexpr double kRounding = 1e-7;  // of a rate that is kept in proportion
  const auto expect_same = [&](const Trainer& other, const char* name) {
    const std::vector<float> have = mixed.parameter(name).floats();
    const std::vector<float> want = other.parameter(name).floats();
    for (size_t i = 0; i < have.size(); ++i) EXPECT_NEAR(have[i], want[i], kRounding) << name;
  };
  expect_same(all_adam, "first.weight");
  expect_same(all_sgd, "second.weight");
  EXPECT_NO_THROW(static_cast<void>(mixed.parameter("first.weight.exp_avg")));
  EXPECT_THROW(static_cast<void>(mixed.parameter("second.weight.exp_avg")), Error);
}

TEST(objectives, are_settings_of_a_checkpoint) {
  const test::TemporaryFolder folder;
  Trainer trainer(contest(), options());
  trainer.fit(samples(), {.epochs = 2});
  trainer.save(folder / "c");
  TrainerOptions other = options();
  other.objectives[1].loss = "large";
  Trainer different(contest(), other);
  EXPECT_THAT(error_of([&] { different.resume(folder / "c"); }), HasSubstr("objectives"));
  Trainer same(contest(), options());
  same.resume(folder / "c");
  same.fit(samples());
  trainer.fit(samples());
  EXPECT_EQ(same.weights_sha256(), trainer.weights_sha256());
}

TEST(objectives, keep_bits_within_a_budget_and_sums_in_micro_batches) {
  const auto trained = [](TrainerOptions wanted) {
    Trainer trainer(contest(), wanted);
    trainer.fit(samples(), {.epochs = 3});
    return trainer.parameter("first.weight").floats();
  };
  const std::vector<float> whole = trained(options());
  TrainerOptions tight = options();
  tight.memory_budget = 1;
  tight.swap = Swap::never;
  tight.memory_budget = plan_training(contest(), tight).nearest_feasible_bytes;
  EXPECT_EQ(trained(tight), whole);
  TrainerOptions parts = options();
  parts.micro_batches = 3;
  const std::vector<float> summed = trained(parts);
  for (size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(summed[i], whole[i], 1e-6);
}

TEST(objectives, refuse_losses_and_patterns_that_are_not_there) {
  const auto message = [](const Objective& objective) {
    TrainerOptions wanted = options();
    wanted.objectives.push_back(objective);
    return error_of([&] { Trainer(contest(), wanted); });
  };
  EXPECT_THAT(
      message({.loss = "no", .parameters = "*"}),
      HasSubstr("[objective of *] its loss is a metric of the graph, and there is no \"no\"; "
                "name it with Graph::metric. Metrics are: fit, large"));
  EXPECT_THAT(message({.loss = "fit", .parameters = "third.*"}), HasSubstr("matches no parameter"));
  TrainerOptions wanted = options();
  wanted.optimizer = SGD{.lr = 0.0};
  wanted.schedule = Schedule::constant(0.1);
  wanted.objectives[0].optimizer = Adam{};
  EXPECT_THAT(error_of([&] { Trainer(contest(), wanted); }), HasSubstr("a rate above 0"));
}

}  // namespace
}  // namespace thimble::objectives_test
