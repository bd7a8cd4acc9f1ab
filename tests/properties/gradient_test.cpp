#include <cmath>
#include <random>

#include "harness/uniform.h"
#include "properties/random_models.h"

namespace thimble::test::gradient_test {
namespace {

using ir::Precision;

double loss_on(const ir::Graph& graph, const Contents& contents) {
  const auto values = run_on(graph, contents, Precision::f64);
  return ir::to_doubles(values[static_cast<size_t>(*graph.loss)], Precision::f64)[0];
}

// The gradient of every parameter against central differences along a random direction, in double
// precision. The seed determines the contents.
std::string difference_from_finite_differences(const ir::Graph& graph, const Contents& contents) {
  constexpr double kStep = 1e-6;
  // Rounding of the loss, about 1e-15 of it for its many terms, over the step; the error of the
  // differences themselves, step^2, is far below.
  constexpr double kRounding = 1e-8;
  constexpr double kTolerance = 1e-6;
  const auto values = run_on(graph, contents, Precision::f64);
  const double loss = ir::to_doubles(values[static_cast<size_t>(*graph.loss)], Precision::f64)[0];
  if (!std::isfinite(loss)) return fmt::format("the loss is {}", loss);
  ir::Graph forward = graph;
  forward.outputs.clear();
  forward = passes::remove_dead_code(forward);
  std::mt19937 random(1);
  const Uniform uniform(-1.0, 1.0);
  for (const auto& [name, id] : graph.outputs) {
    if (name.rfind("grad(", 0) != 0) continue;
    const std::string parameter = name.substr(5, name.size() - 6);
    const auto gradient = ir::to_doubles(values[static_cast<size_t>(id)], Precision::f64);
    Contents up = contents;
    Contents down = contents;
    double expected = 0.0;
    double scale = 0.0;
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double u = uniform(random);
      up.numbers[parameter][i] += kStep * u;
      down.numbers[parameter][i] -= kStep * u;
      expected += gradient[i] * u;
      scale += std::abs(gradient[i] * u);
    }
    const double measured = (loss_on(forward, up) - loss_on(forward, down)) / (2.0 * kStep);
    const double allowed = kTolerance * scale + kRounding * std::max(1.0, std::abs(loss));
    if (!(std::abs(measured - expected) <= allowed)) {
      return fmt::format("gradient by {}: autodiff says {:.9g}, finite differences {:.9g}",
                         parameter, expected, measured);
    }
  }
  return "";
}

std::string has_the_gradient_of_finite_differences(const RandomModel& model, uint32_t seed) {
  // A step may cross the kink of a ReLU, or change which element is the maximum: so three tries.
  constexpr uint32_t kAttempts = 3;
  const ir::Graph graph = with_gradients(model);
  std::string error;
  for (uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    error =
        difference_from_finite_differences(graph, random_contents(model, graph, seed + attempt));
    if (error.empty()) return "";
  }
  return error;
}

TEST(random_model, has_the_gradient_of_finite_differences) {
  expect_of_random_models(has_the_gradient_of_finite_differences);
}

}  // namespace
}  // namespace thimble::test::gradient_test
