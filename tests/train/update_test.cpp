#include "train/update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/schedule.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "goldens.h"
#include "stepper.h"

namespace thimble::train::update_test {
namespace {

using nlohmann::json;
using test::Stepper;
using testing::HasSubstr;

// Twelve steps in float, ours with fused multiply-adds, PyTorch's without; relative to the largest
// parameter of the step.
constexpr double kTrajectoryTolerance = 2e-6;

using Shapes = std::vector<Shape>;

std::vector<float> numbers(const json& list) { return list.get<std::vector<float>>(); }

void expect_close(const std::vector<float>& got, const std::vector<float>& wanted, double tolerance,
                  double smallest_scale, const std::string& where) {
  ASSERT_EQ(got.size(), wanted.size()) << where;
  for (size_t i = 0; i < got.size(); ++i) {
    const double scale = std::max(smallest_scale, std::abs(static_cast<double>(wanted[i])));
    EXPECT_NEAR(got[i], wanted[i], tolerance * scale) << where << ", element " << i;
  }
}

// Parameters "w0", "w1", ... whose gradients are the inputs "g0", "g1", ...
struct GivenGradients {
  ir::Graph graph;
  std::vector<autodiff::Gradient> gradients;

  explicit GivenGradients(const Shapes& shapes) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string number = std::to_string(i);
      const Value w = graph.source("w" + number, {DType::f32, shapes[i]}, ir::Role::parameter);
      const Value g = graph.source("g" + number, {DType::f32, shapes[i]}, ir::Role::input);
      gradients.push_back({w.id(), g.id()});
    }
  }
};

void set_stored(Stepper& stepper, const std::string& name, const std::vector<float>& values) {
  const exec::Store::Entry* entry = stepper.store().find(name);
  std::memcpy(entry->data, values.data(), values.size() * sizeof(float));
}

// Runs the gradients of the inputs (all goldens, or one with its own) through an update of all
// parameters; after[step] is what PyTorch has.
void follow(const UpdateOptions& options, size_t parameters, bool fast, const json& inputs,
            const std::function<json(size_t step, size_t parameter)>& after) {
  const json& goldens = test::optimizer_goldens();
  const Shape shape(inputs.value("shape", std::vector<int64_t>{5}));
  GivenGradients model(Shapes(parameters, shape));
  append_updates(model.graph, model.gradients, options);
  Stepper stepper({&model.graph}, {.fast = fast});
  for (size_t p = 0; p < parameters; ++p) {
    set_stored(stepper, "w" + std::to_string(p), numbers(inputs["start"]));
  }
  const size_t steps = inputs["gradients"].size();
  ASSERT_GE(steps, 10U);
  for (size_t step = 0; step < steps; ++step) {
    for (size_t p = 0; p < parameters; ++p) {
      stepper.set("g" + std::to_string(p), numbers(inputs["gradients"][step]));
    }
    const double lr = options.optimizer.learning_rate() * goldens["lr_factors"][step].get<double>();
    stepper.set<float>(kLearningRateName, {static_cast<float>(lr)});
    stepper.set<int32_t>(kUpdateNumberName, {static_cast<int32_t>(step) + 1});
    ASSERT_TRUE(stepper.run());
    for (size_t p = 0; p < parameters; ++p) {
      expect_close(stepper.stored("w" + std::to_string(p)), numbers(after(step, p)),
                   kTrajectoryTolerance, 1.0,
                   options.optimizer.text() + ", step " + std::to_string(step));
    }
  }
}

TEST(update, follows_pytorchs_trajectories) {
  const json& goldens = test::optimizer_goldens();
  std::set<std::string> followed;
  for (const char* list : {"optimizers", "matrices"}) {
    for (const json& golden : goldens[list]) {
      const Optimizer optimizer = Optimizer::parse(golden["settings"].get<std::string>());
      followed.insert(optimizer.name());
      for (const bool fast : {false, true}) {
        follow({.optimizer = optimizer}, 1, fast, golden.contains("start") ? golden : goldens,
               [&](size_t step, size_t) { return golden["after"][step]; });
      }
    }
  }
  for (const std::string& name : Optimizer::names()) EXPECT_TRUE(followed.count(name)) << name;
}

TEST(update, cycles_the_momentum_as_pytorch_does) {
  const json& goldens = test::optimizer_goldens();
  const auto steps = static_cast<int64_t>(goldens["gradients"].size());
  for (const json& golden : goldens["cycles"]) {
    const Optimizer optimizer = Optimizer::parse(golden["optimizer"].get<std::string>());
    const Schedule schedule = Schedule::parse(golden["schedule"].get<std::string>(),
                                              optimizer.learning_rate(), steps + 1);
    ASSERT_TRUE(schedule.cycles_momentum());
    GivenGradients model(Shapes{{5}});
    append_updates(model.graph, model.gradients,
                   {.optimizer = optimizer, .scheduled_momentum = true});
    Stepper stepper({&model.graph});
    set_stored(stepper, "w0", numbers(goldens["start"]));
    for (int64_t step = 0; step < steps; ++step) {
      const auto number = static_cast<size_t>(step);
      stepper.set("g0", numbers(goldens["gradients"][number]));
      stepper.set<float>(kLearningRateName, {static_cast<float>(schedule.at(step))});
      stepper.set<float>(kMomentumName, {static_cast<float>(*schedule.momentum(step))});
      stepper.set<int32_t>(kUpdateNumberName, {static_cast<int32_t>(step) + 1});
      ASSERT_TRUE(stepper.run());
      expect_close(stepper.stored("w0"), numbers(golden["after"][number]), kTrajectoryTolerance,
                   1.0, optimizer.text() + ", step " + std::to_string(step));
    }
  }
}

TEST(update, refuses_to_cycle_a_missing_momentum) {
  for (const Optimizer& optimizer : {Optimizer(SGD{}), Optimizer(Adagrad{})}) {
    GivenGradients model(Shapes{{5}});
    EXPECT_THAT(
        [&] {
          append_updates(model.graph, model.gradients,
                         {.optimizer = optimizer, .scheduled_momentum = true});
        },
        testing::ThrowsMessage<Error>(
            HasSubstr("has not; give it one above 0, or take one of adam, adamax, adamw")));
  }
}

TEST(update, gives_groups_their_own_rate_and_weight_decay) {
  const json& golden = test::optimizer_goldens()["group"];
  UpdateOptions options;
  options.optimizer = Optimizer::parse(golden["settings"].get<std::string>());
  options.groups = {{.pattern = "*1",
                     .lr_scale = golden["lr_scale"],
                     .weight_decay = golden["weight_decay"].get<double>()},
                    {.pattern = "w*"}};
  follow(options, 2, true, test::optimizer_goldens(),
         [&](size_t step, size_t p) { return golden["after"][step][p]; });
}

// A quadratic loss with another curvature in every direction, and noise: the error of 8-bit states
// after 200 steps is small beside the distance that the parameters move.
TEST(update, keeps_moments_in_8_bits_near_the_whole_ones) {
  constexpr int64_t kElements = 1000;
  constexpr double kDrift = 0.03;
  const auto descend = [](const Optimizer& optimizer) {
    GivenGradients model(Shapes{{kElements}});
    append_updates(model.graph, model.gradients, {.optimizer = optimizer});
    Stepper stepper({&model.graph});
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    std::vector<float> steepness;
    for (int64_t i = 0; i < kElements; ++i) steepness.push_back(std::exp(normal(random)));
    for (int32_t step = 1; step <= 200; ++step) {
      const std::vector<float> w = stepper.stored("w0");
      std::vector<float> g;
      for (size_t i = 0; i < w.size(); ++i) {
        g.push_back(steepness[i] * (w[i] - 1.0F + 0.3F * normal(random)));
      }
      stepper.set("g0", g);
      stepper.set<float>(kLearningRateName, {0.01F});
      stepper.set<int32_t>(kUpdateNumberName, {step});
      EXPECT_TRUE(stepper.run());
    }
    return stepper.stored("w0");
  };
  const std::vector<float> whole = descend(AdamW{.weight_decay = 0.1});
  const std::vector<float> coded =
      descend(AdamW{.weight_decay = 0.1, .state_bits = 8, .min_8bit_size = 1});
  double way = 0.0;
  double drift = 0.0;
  for (size_t i = 0; i < whole.size(); ++i) {
    const auto w = static_cast<double>(whole[i]);
    way += w * w;
    drift += (static_cast<double>(coded[i]) - w) * (static_cast<double>(coded[i]) - w);
  }
  EXPECT_GT(std::sqrt(way / kElements), 0.7);
  EXPECT_GT(drift, 0.0);
  EXPECT_LT(std::sqrt(drift / way), kDrift);
}

TEST(update, names_states_as_pytorch_does) {
  const auto states = [](const Optimizer& optimizer) {
    GivenGradients model(Shapes{{2}});
    append_updates(model.graph, model.gradients, {.optimizer = optimizer});
    ir::verify(model.graph);
    std::vector<std::string> names;
    for (const ir::ValueData& data : model.graph.values) {
      if (data.producer < 0 && data.role == ir::Role::state) names.push_back(data.name);
    }
    return names;
  };
  using testing::ElementsAre;
  EXPECT_THAT(states(SGD{}), ElementsAre());
  EXPECT_THAT(states(SGD{.momentum = 0.9}), ElementsAre("w0.momentum_buffer"));
  EXPECT_THAT(states(Adam{}), ElementsAre("w0.exp_avg", "w0.exp_avg_sq"));
  EXPECT_THAT(states(AdamW{.amsgrad = true}),
              ElementsAre("w0.exp_avg", "w0.exp_avg_sq", "w0.max_exp_avg_sq"));
  EXPECT_THAT(states(Adam{.state_bits = 8}), ElementsAre("w0.exp_avg", "w0.exp_avg_sq"));
  EXPECT_THAT(
      states(Adam{.state_bits = 8, .min_8bit_size = 1}),
      ElementsAre("w0.exp_avg", "w0.exp_avg_sq", "w0.exp_avg_scale", "w0.exp_avg_sq_scale"));
  EXPECT_THAT(states(RMSProp{}), ElementsAre("w0.square_avg"));
  EXPECT_THAT(states(RMSProp{.momentum = 0.5}), ElementsAre("w0.square_avg", "w0.momentum_buffer"));
  EXPECT_THAT(states(Adagrad{}), ElementsAre("w0.sum"));
  EXPECT_THAT(states(Adadelta{}), ElementsAre("w0.square_avg", "w0.acc_delta"));
  EXPECT_THAT(states(Adamax{}), ElementsAre("w0.exp_avg", "w0.exp_inf"));
  EXPECT_THAT(states(NAdam{}), ElementsAre("w0.exp_avg", "w0.exp_avg_sq", "w0.mu_product"));
  EXPECT_THAT(states(ASGD{}), ElementsAre("w0.ax", "w0.eta"));
  EXPECT_THAT(states(Rprop{}), ElementsAre("w0.prev", "w0.step_size"));
  EXPECT_THAT(states(SparseAdam{}), ElementsAre("w0.exp_avg", "w0.exp_avg_sq"));
  EXPECT_THAT(states(Adafactor{}), ElementsAre("w0.variance"));
  EXPECT_THAT(states(RMSProp{.momentum = 0.5, .centered = true}),
              ElementsAre("w0.square_avg", "w0.grad_avg", "w0.momentum_buffer"));
}

TEST(update, clips_gradients_as_pytorch_does) {
  const std::map<std::string, GradientClip::Kind> kinds = {
      {"value", GradientClip::Kind::value},
      {"tensor_norm", GradientClip::Kind::tensor_norm},
      {"global_norm", GradientClip::Kind::global_norm}};
  for (const json& golden : test::optimizer_goldens()["clips"]) {
    const std::string kind = golden["kind"];
    GivenGradients model(Shapes{{3}, {2, 2}});
    // A rate of 1 from 0: the parameters become minus the clipped gradients.
    append_updates(model.graph, model.gradients,
                   {.optimizer = SGD{}, .clip = {kinds.at(kind), golden["limit"]}});
    Stepper stepper({&model.graph});
    for (size_t p = 0; p < 2; ++p) {
      stepper.set("g" + std::to_string(p), numbers(golden["before"][p]));
    }
    stepper.set<float>(kLearningRateName, {1.0F});
    stepper.set<int32_t>(kUpdateNumberName, {1});
    ASSERT_TRUE(stepper.run());
    for (size_t p = 0; p < 2; ++p) {
      std::vector<float> wanted = numbers(golden["after"][p]);
      for (float& v : wanted) v = -v;
      expect_close(stepper.stored("w" + std::to_string(p)), wanted, 1e-6, 0.0,
                   kind + ", tensor " + std::to_string(p));
    }
  }
}

// The norm of the gradients that are limited is 5.
TEST(update, limits_gradients_of_groups_on_their_own) {
  const auto updated = [](const GradientClip& clip, double second) {
    GivenGradients model(Shapes{{1}, {1}, {2}});
    append_updates(
        model.graph, model.gradients,
        {.optimizer = SGD{},
         .groups = {{.pattern = "w1", .clip_limit = second}, {.pattern = "w2", .clip_limit = 0.0}},
         .clip = clip});
    Stepper stepper({&model.graph});
    stepper.set<float>("g0", {-3.0F});
    stepper.set<float>("g1", {-4.0F});
    stepper.set<float>("g2", {-5.0F, -12.0F});
    stepper.set<float>(kLearningRateName, {1.0F});
    stepper.set<int32_t>(kUpdateNumberName, {1});
    EXPECT_TRUE(stepper.run());
    EXPECT_EQ(stepper.stored("w2"), (std::vector<float>{5.0F, 12.0F}));
    return std::vector<float>{stepper.stored("w0")[0], stepper.stored("w1")[0]};
  };
  expect_close(updated(GradientClip::by_global_norm(1.0), 2.5), {0.6F, 2.0F}, 1e-6, 0.0, "norm");
  expect_close(updated(GradientClip::by_global_norm(1.0), 6.0), {0.6F, 4.0F}, 1e-6, 0.0, "wide");
  expect_close(updated(GradientClip::by_tensor_norm(1.0), 2.5), {1.0F, 2.5F}, 1e-6, 0.0, "each");
  expect_close(updated(GradientClip::by_value(1.0), 2.5), {1.0F, 2.5F}, 1e-6, 0.0, "value");
}

TEST(update, keeps_nan_when_clipping) {
  for (const GradientClip& clip : {GradientClip::by_value(1.0), GradientClip::by_tensor_norm(1.0),
                                   GradientClip::by_global_norm(1.0)}) {
    GivenGradients model(Shapes{{3}});
    append_updates(model.graph, model.gradients, {.optimizer = SGD{}, .clip = clip});
    for (const bool fast : {false, true}) {
      Stepper stepper({&model.graph}, {.fast = fast});
      stepper.set<float>("g0", {0.5F, std::nanf(""), 0.5F});
      stepper.set<float>(kLearningRateName, {1.0F});
      stepper.set<int32_t>(kUpdateNumberName, {1});
      ASSERT_TRUE(stepper.run());
      EXPECT_TRUE(std::isnan(stepper.stored("w0")[1]));
    }
  }
}

TEST(update, refuses_invalid_groups_and_limits) {
  const auto message = [](const UpdateOptions& options) -> std::string {
    GivenGradients model(Shapes{{2}});
    try {
      append_updates(model.graph, model.gradients, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message({.groups = {{.pattern = "encoder.*"}}}),
            "[parameter group encoder.*] matches no trained parameter");
  EXPECT_THAT(message({.groups = {{.pattern = "*", .lr_scale = -1.0}}}),
              HasSubstr("lr_scale must not be negative, got -1"));
  EXPECT_THAT(message({.groups = {{.pattern = "*", .weight_decay = -1.0}}}),
              HasSubstr("weight_decay must not be negative"));
  EXPECT_THAT(message({.groups = {{.pattern = "*", .l1 = -1.0}}}),
              HasSubstr("l1 and l2 must not be negative, got -1"));
  EXPECT_THAT(message({.groups = {{.pattern = "*", .clip_limit = -1.0}},
                       .clip = GradientClip::by_value(1.0)}),
              HasSubstr("clip_limit must not be negative, got -1"));
  EXPECT_THAT(message({.groups = {{.pattern = "*", .clip_limit = 1.0}}}),
              HasSubstr("gradients are not clipped; say how in clip"));
  EXPECT_THAT(message({.ema_decay = 1.0}), HasSubstr("must be at least 0 and below 1, got 1"));
  EXPECT_THAT(message({.clip = GradientClip::by_value(0.0)}),
              HasSubstr("limit must be above 0, got 0"));
  EXPECT_THAT(message({.clip = GradientClip::by_global_norm(-2.0)}), HasSubstr("got -2"));
}

// torch.optim.swa_utils.AveragedModel copies in its first step and moves from then on.
TEST(update, averages_weights) {
  GivenGradients model(Shapes{{2}});
  append_updates(model.graph, model.gradients, {.optimizer = SGD{}, .ema_decay = 0.75});
  Stepper stepper({&model.graph});
  const float parameters[] = {-1.0F, -3.0F, 2.0F};
  const float averages[] = {-1.0F, -1.5F, -0.625F};
  float before = 0.0F;
  for (size_t step = 0; step < 3; ++step) {
    stepper.set<float>("g0", std::vector<float>(2, before - parameters[step]));
    stepper.set<float>(kLearningRateName, {1.0F});
    stepper.set<int32_t>(kUpdateNumberName, {static_cast<int32_t>(step) + 1});
    ASSERT_TRUE(stepper.run());
    EXPECT_EQ(stepper.stored("w0"), std::vector<float>(2, parameters[step]));
    EXPECT_EQ(stepper.stored("w0.ema"), std::vector<float>(2, averages[step]));
    before = parameters[step];
  }
}

// SGD of rate 1 without gradients: what the penalties alone do.
TEST(update, adds_the_penalties_of_the_first_matching_group) {
  GivenGradients model(Shapes{{3}, {3}, {3}});
  append_updates(model.graph, model.gradients,
                 {.optimizer = SGD{},
                  .groups = {{.pattern = "w0", .l1 = 0.5},
                             {.pattern = "w1", .l2 = 0.25},
                             {.pattern = "*0", .l2 = 9.0}}});
  Stepper stepper({&model.graph});
  for (const char* name : {"w0", "w1", "w2"}) set_stored(stepper, name, {2.0F, -4.0F, 0.0F});
  stepper.set<float>(kLearningRateName, {1.0F});
  stepper.set<int32_t>(kUpdateNumberName, {1});
  ASSERT_TRUE(stepper.run());
  EXPECT_EQ(stepper.stored("w0"), (std::vector<float>{1.5F, -3.5F, 0.0F}));
  EXPECT_EQ(stepper.stored("w1"), (std::vector<float>{1.5F, -3.0F, 0.0F}));
  EXPECT_EQ(stepper.stored("w2"), (std::vector<float>{2.0F, -4.0F, 0.0F}));
}

TEST(update, limits_gradients_with_their_penalties) {
  GivenGradients model(Shapes{{1}});
  append_updates(model.graph, model.gradients,
                 {.optimizer = SGD{},
                  .groups = {{.pattern = "*", .l2 = 10.0}},
                  .clip = GradientClip::by_value(1.0)});
  Stepper stepper({&model.graph});
  set_stored(stepper, "w0", {2.0F});
  stepper.set<float>(kLearningRateName, {1.0F});
  stepper.set<int32_t>(kUpdateNumberName, {1});
  ASSERT_TRUE(stepper.run());
  EXPECT_EQ(stepper.stored("w0")[0], 1.0F);
}

TEST(update, leaves_parameters_without_gradient_alone) {
  GivenGradients model(Shapes{{2}, {2}});
  model.gradients[1].gradient = -1;
  append_updates(model.graph, model.gradients, {});
  EXPECT_EQ(model.graph.nodes.size(), 1U);
  EXPECT_FALSE(model.graph.find_source("w1.exp_avg"));
}

}  // namespace
}  // namespace thimble::train::update_test
