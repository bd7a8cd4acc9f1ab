// L-BFGS visits the points that torch.optim.LBFGS visits: lbfgs_goldens.json, made by
// scripts/goldens_lbfgs.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/lbfgs.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/error_of.h"

namespace thimble::lbfgs_test {
namespace {

using nlohmann::json;
using test::error_of;

// Both compute in double precision; sums are rounded in another order, and the curvature of the
// functions, up to 10^4, makes that grow.
constexpr double kTolerance = 1e-6;

double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  double value = 0.0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double valley = x[i + 1] - x[i] * x[i];
    value += 100.0 * valley * valley + (1.0 - x[i]) * (1.0 - x[i]);
    gradient[i] += -400.0 * valley * x[i] - 2.0 * (1.0 - x[i]);
    gradient[i + 1] += 200.0 * valley;
  }
  return value;
}

double quadratic(std::span<const double> x, std::span<double> gradient) {
  double value = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(x.size() - 1);
    const double scale = std::pow(10.0, -2.0 + 4.0 * part);
    value += scale * (x[i] - 1.0) * (x[i] - 1.0);
    gradient[i] = 2.0 * scale * (x[i] - 1.0);
  }
  return value;
}

LbfgsOptions options_of(const json& given) {
  LbfgsOptions options;
  options.lr = given.value("lr", options.lr);
  options.max_iter = given.value("max_iter", options.max_iter);
  options.max_eval = given.value("max_eval", options.max_eval);
  options.history_size = given.value("history_size", options.history_size);
  options.tolerance_grad = given.value("tolerance_grad", options.tolerance_grad);
  if (given.contains("line_search_fn")) {
    options.line_search = LbfgsOptions::LineSearch::strong_wolfe;
  }
  return options;
}

TEST(lbfgs, visits_the_points_of_pytorch) {
  std::ifstream file(std::string(THIMBLE_SOURCE_DIR) + "/tests/train/lbfgs_goldens.json");
  const json cases = json::parse(file);
  ASSERT_EQ(cases.size(), 8U);
  for (const json& golden : cases) {
    const std::string what = golden["function"].get<std::string>() + golden["options"].dump();
    const Lbfgs::Objective function = golden["function"] == "rosenbrock" ? rosenbrock : quadratic;
    Lbfgs lbfgs(options_of(golden["options"]));
    auto x = golden["start"].get<std::vector<double>>();
    for (const json& wanted : golden["steps"]) {
      const double loss = lbfgs.step(x, function);
      EXPECT_NEAR(loss, wanted["loss"].get<double>(), kTolerance * std::max(1.0, std::abs(loss)))
          << what;
      EXPECT_EQ(lbfgs.iterations(), wanted["iterations"]) << what;
      EXPECT_EQ(lbfgs.evaluations(), wanted["evaluations"]) << what;
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(x[i], wanted["x"][i].get<double>(), kTolerance) << what << " at " << i;
      }
    }
  }
}

Graph regression() {
  Graph g;
  const Value y = dense(g.input("x", {3}), {.units = 1, .name = "line"});
  const Value error = y - g.label("y", {1}, DType::f32);
  g.minimize(mean(error * error));
  return g;
}

// y = x . (1, -2, 3) + 0.5.
data::Dataset line(int64_t count) {
  std::vector<float> x;
  std::vector<float> y;
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0.5F;
    for (int64_t k = 0; k < 3; ++k) {
      x.push_back(std::sin(0.7F * static_cast<float>(i * (k + 1) + k)));
      sum += x.back() * (k == 1 ? -2.0F : static_cast<float>(k + 1));
    }
    y.push_back(sum);
  }
  return data::in_memory({{"x", {3}}, {"y", {1}, DType::f32, true}}, {x, y});
}

TEST(lbfgs, trains_the_parameters_of_a_trainer) {
  Trainer trainer(regression(), {.batch = 20, .threads = 1});
  Lbfgs lbfgs({.line_search = LbfgsOptions::LineSearch::strong_wolfe});
  const double before = trainer.evaluate(line(20)).loss;
  EXPECT_NEAR(lbfgs.step(trainer, line(20)), before, 1e-6 * before);
  const std::vector<float> weight = trainer.parameter("line.weight").floats();
  constexpr float kClose = 1e-3F;
  EXPECT_NEAR(weight[0], 1.0F, kClose);
  EXPECT_NEAR(weight[1], -2.0F, kClose);
  EXPECT_NEAR(weight[2], 3.0F, kClose);
  EXPECT_NEAR(trainer.parameter("line.bias").floats()[0], 0.5F, kClose);
  EXPECT_EQ(trainer.steps(), 0);
}

// Rosenbrock's function of the elements of f64 arrays "a" and "b", in a row.
Gradients rosenbrock_of(const Lbfgs::Values& at) {
  std::vector<double> x;
  for (const auto& [name, array] : at) {
    for (const double value : array.as<double>()) x.push_back(value);
  }
  std::vector<double> gradient(x.size());
  Gradients found;
  found.batch.loss = rosenbrock(x, gradient);
  size_t i = 0;
  for (const auto& [name, array] : at) {
    std::vector<double> part;
    while (part.size() < array.as<double>().size()) part.push_back(gradient[i++]);
    found.values.emplace(name, Array(part, array.shape()));
  }
  return found;
}

TEST(lbfgs, moves_named_arrays_as_one_vector) {
  const LbfgsOptions options{.line_search = LbfgsOptions::LineSearch::strong_wolfe};
  std::vector<double> x{-1.0, 0.5, 1.5};
  Lbfgs by_vector(options);
  const std::vector<double> memory{-1.0, 0.5};
  Lbfgs::Values values{{"a", Array::view<double>(memory, {2, 1})}, {"b", std::vector<double>{1.5}}};
  Lbfgs by_arrays(options);
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(by_arrays.step(values, rosenbrock_of), by_vector.step(x, rosenbrock));
    EXPECT_EQ(values["a"], Array(std::vector<double>{x[0], x[1]}, {2, 1}));
    EXPECT_EQ(values["b"], Array(std::vector<double>{x[2]}));
  }
  EXPECT_EQ(memory, (std::vector<double>{-1.0, 0.5}));
}

TEST(lbfgs, refuses_arrays_that_it_cannot_move) {
  const auto message = [](Lbfgs::Values values, const Lbfgs::ArrayObjective& objective) {
    Lbfgs lbfgs;
    return error_of([&] { lbfgs.step(values, objective); });
  };
  const auto same = [](const Lbfgs::Values& at) { return Gradients{.batch = {}, .values = at}; };
  EXPECT_THAT(message({{"a", std::vector<int32_t>{1}}}, same),
              testing::HasSubstr("expected a of f32 or f64, got i32"));
  EXPECT_THAT(message({{"a", {1.0F}}}, [](const auto&) { return Gradients{}; }),
              testing::HasSubstr("gives no gradient of a"));
  const auto wide = [](const Lbfgs::Values&) {
    return Gradients{.batch = {}, .values = {{"a", std::vector<double>{1.0}}}};
  };
  EXPECT_THAT(message({{"a", {1.0F}}}, wide),
              testing::HasSubstr("expected a gradient of a of f32[1], got f64[1]"));
  const auto more = [](const Lbfgs::Values& at) {
    return Gradients{.batch = {}, .values = {{"a", at.at("a")}, {"b", {2.0F}}}};
  };
  EXPECT_THAT(message({{"a", {1.0F}}}, more), testing::HasSubstr("expected 1 gradients, got 2"));
}

TEST(lbfgs, leaves_parameters_as_they_were_where_the_loss_goes_bad) {
  Trainer trainer(regression(), {.batch = 20, .threads = 1});
  const std::string hash = trainer.weights_sha256();
  Lbfgs wild({.lr = 1e38});
  EXPECT_THAT(error_of([&] { wild.step(trainer, line(20)); }),
              testing::HasSubstr("the loss is not finite"));
  EXPECT_EQ(trainer.weights_sha256(), hash);
}

TEST(lbfgs, refuses_settings_and_samples_that_do_not_fit) {
  EXPECT_THAT(error_of([] { Lbfgs({.lr = 0.0}); }), testing::HasSubstr("lr must be above 0"));
  EXPECT_THAT(error_of([] { Lbfgs({.max_iter = 0}); }), testing::HasSubstr("max_iter"));
  EXPECT_THAT(error_of([] { Lbfgs({.history_size = 0}); }), testing::HasSubstr("history_size"));
  EXPECT_THAT(error_of([] { Lbfgs({.tolerance_grad = -1.0}); }), testing::HasSubstr("tolerances"));
  Trainer trainer(regression(), {.batch = 20, .threads = 1});
  Lbfgs lbfgs;
  EXPECT_THAT(
      error_of([&] { lbfgs.step(trainer, line(21)); }),
      testing::HasSubstr("[gradients] expected 1 to 20 samples, the trainer's batch; got 21"));
  std::vector<double> x(2);
  lbfgs.step(x, quadratic);
  x.resize(3);
  EXPECT_THAT(error_of([&] { lbfgs.step(x, quadratic); }),
              testing::HasSubstr("as many numbers as the first, 2; got 3"));
}

}  // namespace
}  // namespace thimble::lbfgs_test
