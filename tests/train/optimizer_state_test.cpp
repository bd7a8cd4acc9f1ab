// Optimizers as functions give the bits of a Trainer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/optimizer_state.h>
#include <thimble/trainer.h>

#include <cmath>

#include "harness/error_of.h"
#include "models/small_models.h"

namespace thimble::optimizer_state_test {
namespace {

using test::error_of;
using testing::HasSubstr;

TrainerOptions options(const Optimizer& optimizer) {
  return {.optimizer = optimizer, .batch = 8, .threads = 1};
}

// Every optimizer: a Trainer that updates, beside one whose gradients are applied by hand.
TEST(optimizer_state, updates_as_a_trainer_does) {
  const data::Dataset data = test::small_data(8);
  for (const std::string& name : Optimizer::names()) {
    if (name == "sparse_adam") continue;  // takes sparse gradients, which only a Trainer has
    const Optimizer optimizer = Optimizer::parse(name + ":lr=0.01");
    Trainer trainer(test::small_network(), options(optimizer));
    Trainer by_hand(test::small_network(), options(optimizer));
    std::map<std::string, Shape> shapes{{"conv.weight", {5, 3, 3, 2}}, {"conv.bias", {5}},
                                        {"norm.weight", {5}},          {"norm.bias", {5}},
                                        {"dense.weight", {3, 80}},     {"dense.bias", {3}}};
    OptimizerState state(optimizer, shapes);
    OptimizerState::Values parameters;
    for (const auto& [key, shape] : shapes) parameters[key] = by_hand.parameter(key);
    for (int step = 0; step < 3; ++step) {
      trainer.step(data);
      state.update(parameters, by_hand.gradients(data).values);
      for (const auto& [key, values] : parameters) by_hand.set_parameter(key, values);
      for (const auto& [key, values] : parameters) {
        EXPECT_EQ(trainer.parameter(key), values) << name << " " << key << ", step " << step;
      }
    }
    EXPECT_EQ(state.updates("conv.bias"), 3);
  }
}

TEST(optimizer_state, takes_another_learning_rate_and_leaves_parameters_without_gradients) {
  OptimizerState state(SGD{.lr = 1.0, .momentum = 0.9}, {{"a", {2}}, {"b", {1}}});
  OptimizerState::Values values{{"a", {1.0F, 2.0F}}, {"b", {3.0F}}};
  state.update(values, {{"a", {1.0F, -1.0F}}}, 0.5);
  EXPECT_EQ(values["a"], (Array{0.5F, 2.5F}));
  EXPECT_EQ(values["b"], Array{3.0F});
  EXPECT_EQ(state.value("a", "momentum_buffer"), (Array{1.0F, -1.0F}));
}

// Adam's first update is lr whatever the gradient, because both moments are corrected for it.
TEST(optimizer_state, counts_the_updates_of_each_parameter) {
  OptimizerState state(Adam{.lr = 0.5}, {{"a", {1}}, {"b", {1}}});
  OptimizerState::Values values{{"a", {1.0F}}, {"b", {1.0F}}};
  for (int i = 0; i < 3; ++i) state.update(values, {{"a", {2.0F}}});
  state.update(values, {{"b", {2.0F}}});
  EXPECT_NEAR(values["b"].as<float>()[0], 0.5F, 1e-6F);
  EXPECT_EQ(state.updates("a"), 3);
  EXPECT_EQ(state.updates("b"), 1);
  EXPECT_THAT(error_of([&] { static_cast<void>(state.updates("c")); }), HasSubstr("[c]"));
}

TEST(optimizer_state, refuses_learning_rates_that_are_no_rates) {
  OptimizerState state(Adam{}, {{"a", {1}}});
  OptimizerState::Values values{{"a", {1.0F}}};
  for (const double lr : {-0.1, double{NAN}, double{INFINITY}, 1e39}) {
    EXPECT_THAT(error_of([&] {
                  state.update(values, {{"a", {1.0F}}}, lr);
                }),
                HasSubstr("[learning_rate] expected a finite number of 0 or more"))
        << lr;
  }
  EXPECT_EQ(values["a"], Array{1.0F});
  EXPECT_EQ(state.updates("a"), 0);
  state.update(values, {{"a", {1.0F}}}, 0.0);
  EXPECT_EQ(values["a"], Array{1.0F});
}

TEST(optimizer_state, takes_views_and_keeps_shapes) {
  OptimizerState state(SGD{.lr = 1.0}, {{"a", {2, 1}}});
  const std::vector<float> memory{1.0F, 2.0F};
  const std::vector<float> along{0.5F, -0.5F};
  OptimizerState::Values values{{"a", Array::view<float>(memory, {2, 1})}};
  state.update(values, {{"a", Array::view<float>(along, {2})}});
  EXPECT_EQ(values["a"], Array({0.5F, 2.5F}).reshaped({2, 1}));
  EXPECT_FALSE(values["a"].is_view());
  EXPECT_EQ(memory, (std::vector<float>{1.0F, 2.0F}));
}

TEST(optimizer_state, refuses_what_does_not_fit_and_changes_nothing) {
  OptimizerState state(Adam{}, {{"a", {2}}});
  OptimizerState::Values values{{"a", {1.0F, 2.0F}}};
  const auto message = [&](const OptimizerState::Values& gradients) {
    return error_of([&] { state.update(values, gradients); });
  };
  EXPECT_THAT(message({{"b", {1.0F}}}), HasSubstr("[b] the optimizer's state was made without"));
  EXPECT_THAT(message({{"a", {1.0F}}}), HasSubstr("[a] expected a gradient of shape [2], got [1]"));
  EXPECT_THAT(message({{"a", Array({1.0F, 2.0F}).reshaped({1, 2})}}), HasSubstr("got [1, 2]"));
  EXPECT_THAT(message({{"a", std::vector<double>{1.0, 2.0}}}),
              HasSubstr("expected a gradient of f32, got f64; convert it with Array::cast"));
  values["a"] = std::vector<int32_t>{1, 2};
  EXPECT_THAT(message({{"a", {1.0F, 2.0F}}}),
              HasSubstr("expected a parameter of f32, got i32; integers are not trained"));
  values["a"] = {1.0F, 2.0F};
  EXPECT_EQ(state.updates("a"), 0);
  EXPECT_EQ(values["a"], (Array{1.0F, 2.0F}));
  EXPECT_THAT(error_of([&] { static_cast<void>(state.value("a", "no")); }),
              HasSubstr("keeps no \"no\" for it; it keeps exp_avg, exp_avg_sq"));
  EXPECT_THAT(error_of([] { OptimizerState(Adam{}, {}, -1); }), HasSubstr("[threads]"));
}

}  // namespace
}  // namespace thimble::optimizer_state_test
