#include "autodiff/finite_differences.h"

namespace thimble::test::sequence_network_test {
namespace {

using ir::Precision;

// A network with a layer of every kind that works on sequences. The embedding table is also the
// last layer's weight, so one parameter is used twice.
void describe_sequence_network(Graph& g) {
  const Value x = g.input("x", {5, 4});
  const Value tokens = g.constant("tokens", {5}, {0, 1, 2, 1, 0});
  const Value table = g.parameter("table", {3, 4}, init::zeros());
  const Value words = embedding(cast(tokens, DType::i32), table);
  Value h = positional_encoding(x + words);
  h = h + multi_head_attention(h, {.heads = 4, .kv_heads = 2, .causal = true, .name = "attention"});
  const Value turned = reshape(rotary_embedding(reshape(h, {-1, 5, 2, 2})), {-1, 5, 4});
  h = additive_attention(turned, h, h, {.units = 3, .name = "additive"});
  h = time_distributed(h, [](Value step) { return dense(step, {.units = 4, .name = "step"}); });
  h = einsum("btd,vd->btv", {h, table});
  g.minimize(mean(h * h));
}

}  // namespace

TEST(sequence_network, has_the_gradient_of_finite_differences) {
  Graph network;
  describe_sequence_network(network);
  EXPECT_EQ(expect_gradients_of_finite_differences(training_step(network, 3)).size(), 11U);
}

// The gradient of a shared parameter is the sum of the gradients of two parameters with its values.
TEST(sequence_network, sums_the_gradients_of_a_shared_weight) {
  const auto gradients = [](bool shared) {
    Graph g;
    const Value x = g.input("x", {4});
    const Value first = g.parameter("first", {4, 4}, init::zeros());
    const Value second = shared ? first : g.parameter("second", {4, 4}, init::zeros());
    const Value y = matmul(tanh(matmul(x, first)), second);
    g.minimize(mean(y * y));
    const ir::Graph graph = training_step(g, 3);
    auto contents = random_sources(graph, 7);
    if (!shared) contents["second"] = contents["first"];
    for (size_t i = 0; i < 12; ++i) contents["x"][i] = 0.1 * static_cast<double>(i) - 0.5;
    for (size_t i = 0; i < 16; ++i) {
      contents["first"][i] = 0.3 * std::sin(static_cast<double>(i));
      if (!shared) contents["second"][i] = contents["first"][i];
    }
    const auto values = run_on(graph, contents, Precision::f64);
    std::vector<double> sum(16, 0.0);
    for (const auto& [name, id] : graph.outputs) {
      const auto gradient = ir::to_doubles(values[static_cast<size_t>(id)], Precision::f64);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
    return sum;
  };
  const std::vector<double> one = gradients(true);
  const std::vector<double> two = gradients(false);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-12);
}

}  // namespace thimble::test::sequence_network_test
