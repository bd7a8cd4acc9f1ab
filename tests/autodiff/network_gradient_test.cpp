#include "autodiff/finite_differences.h"

namespace thimble::test::network_gradient_test {
namespace {

void expect_gradients(int64_t batch) {
  Graph network;
  describe_network(network);
  const auto slopes = expect_gradients_of_finite_differences(training_step(network, batch));
  EXPECT_EQ(slopes.size(), 13U);
  for (const auto& [parameter, slope] : slopes) {
    EXPECT_GT(std::abs(slope), 100 * kDifferenceTolerance)
        << parameter << " is not put to the test";
  }
}

TEST(network, has_the_gradient_of_finite_differences) { expect_gradients(3); }

TEST(network, has_the_gradient_of_finite_differences_on_a_batch_of_one) { expect_gradients(1); }

TEST(network, stops_the_gradient_at_frozen_parameters) {
  Graph network;
  describe_network(network);
  EXPECT_EQ(network.freeze("conv2d_1.*"), 1);
  const ir::Graph graph = training_step(network, 2);
  for (const auto& [name, id] : graph.outputs) EXPECT_NE(name, "grad(conv2d_1.weight)");
}

}  // namespace
}  // namespace thimble::test::network_gradient_test
