// Compares the gradients of a training step with finite differences of its loss.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "autodiff/network.h"
#include "harness/uniform.h"

namespace thimble::test {

constexpr double kDifferenceStep = 1e-6;
// Rounding of the loss, about 1e-16, over the step; the squared step is far below.
constexpr double kDifferenceTolerance = 1e-7;

// Expects every output "grad(<parameter>)" to equal central differences along a random direction,
// in double precision. The step is so small that no ReLU or maximum changes sides. Returns the
// slope along each parameter's direction.
inline std::map<std::string, double> expect_gradients_of_finite_differences(
    const ir::Graph& graph) {
  using ir::Precision;
  const auto contents = random_sources(graph, 5);
  const auto loss_on = [&](const std::map<std::string, std::vector<double>>& sources) {
    const auto values = run_on(graph, sources, Precision::f64);
    return ir::to_doubles(values[static_cast<size_t>(*graph.loss)], Precision::f64)[0];
  };
  const auto values = run_on(graph, contents, Precision::f64);
  std::mt19937 random(6);
  const Uniform uniform(-1.0, 1.0);
  std::map<std::string, double> slopes;
  for (const auto& [name, id] : graph.outputs) {
    if (name.rfind("grad(", 0) != 0) continue;
    const std::string parameter = name.substr(5, name.size() - 6);
    EXPECT_GE(id, 0) << "the loss does not depend on " << parameter;
    if (id < 0) continue;
    const auto gradient = ir::to_doubles(values[static_cast<size_t>(id)], Precision::f64);
    auto up = contents;
    auto down = contents;
    double& expected = slopes[parameter];
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double u = uniform(random);
      up[parameter][i] += kDifferenceStep * u;
      down[parameter][i] -= kDifferenceStep * u;
      expected += gradient[i] * u;
    }
    const double measured = (loss_on(up) - loss_on(down)) / (2.0 * kDifferenceStep);
    const double tolerance = kDifferenceTolerance * std::max(1.0, std::abs(expected));
    EXPECT_NEAR(measured, expected, tolerance) << parameter;
  }
  return slopes;
}

}  // namespace thimble::test
