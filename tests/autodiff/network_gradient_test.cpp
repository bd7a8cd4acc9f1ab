#include <gtest/gtest.h>

#include <cmath>

#include "autodiff/network.h"

namespace thimble::test {
namespace {

using exec::Precision;
using Contents = std::map<std::string, std::vector<double>>;

double loss_on(const ir::Graph& graph, const Contents& contents) {
  const auto values = run_on(graph, contents, Precision::f64);
  return exec::to_doubles(values[static_cast<size_t>(*graph.loss)], Precision::f64)[0];
}

// Central differences along random directions, in double precision. The step is small enough that
// no ReLU or maximum changes sides.
void expect_gradients_of_finite_differences(int64_t batch) {
  constexpr double kStep = 1e-6;
  constexpr double kTolerance = 1e-7;  // rounding of the loss, about 1e-16, over the step; squared
                                       // step: far below
  Graph network;
  describe_network(network);
  const ir::Graph graph = training_step(network, batch);
  const Contents contents = random_sources(graph, 5);
  const auto values = run_on(graph, contents, Precision::f64);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int checked = 0;
  for (const auto& [name, id] : graph.outputs) {
    if (name.rfind("grad(", 0) != 0) continue;
    const std::string parameter = name.substr(5, name.size() - 6);
    ASSERT_GE(id, 0) << "the loss does not depend on " << parameter;
    const auto gradient = exec::to_doubles(values[static_cast<size_t>(id)], Precision::f64);
    Contents up = contents;
    Contents down = contents;
    double expected = 0.0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double u = uniform(random);
      up[parameter][i] += kStep * u;
      down[parameter][i] -= kStep * u;
      expected += gradient[i] * u;
    }
    const double measured = (loss_on(graph, up) - loss_on(graph, down)) / (2.0 * kStep);
    EXPECT_NEAR(measured, expected, kTolerance * std::max(1.0, std::abs(expected))) << parameter;
    EXPECT_GT(std::abs(expected), 100 * kTolerance) << parameter << " is not put to the test";
    ++checked;
  }
  EXPECT_EQ(checked, 13);
}

TEST(network, has_the_gradient_of_finite_differences) { expect_gradients_of_finite_differences(3); }

TEST(network, has_the_gradient_of_finite_differences_on_a_batch_of_one) {
  expect_gradients_of_finite_differences(1);
}

TEST(network, stops_the_gradient_at_frozen_parameters) {
  Graph network;
  describe_network(network);
  EXPECT_EQ(network.freeze("conv2d_1.*"), 1);
  const ir::Graph graph = training_step(network, 2);
  for (const auto& [name, id] : graph.outputs) EXPECT_NE(name, "grad(conv2d_1.weight)");
}

}  // namespace
}  // namespace thimble::test
