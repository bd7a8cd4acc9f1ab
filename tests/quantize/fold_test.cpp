// Batch norms folded into weights.
#include "quantize/fold.h"

#include <gtest/gtest.h>

#include "ir/reference.h"
#include "passes/passes.h"
#include "quantize/filled.h"

namespace thimble::test::fold_test {
namespace {

using Build = Value (*)(Value x);

struct FoldCase {
  const char* name;
  Shape sample;
  Build build;
  size_t nodes;  // that are left
};

const FoldCase kCases[] = {
    {"conv_without_bias",
     {6, 5, 3},
     [](Value x) {
       return batch_norm(conv2d(x, {.channels = 4, .kernel = 3, .padding = 1, .bias = false}));
     },
     1},
    {"conv_with_bias",
     {6, 5, 3},
     [](Value x) { return relu(batch_norm(conv2d(x, {.channels = 4, .kernel = 3}))); },
     2},
    {"depthwise",
     {6, 5, 4},
     [](Value x) { return batch_norm(depthwise_conv2d(x, {.kernel = 3})); },
     1},
    {"dense", {7}, [](Value x) { return batch_norm(dense(x, {.units = 5})); }, 1},
    {"transposed",
     {3, 4, 3},
     [](Value x) {
       return batch_norm(conv_transpose2d(x, {.channels = 5, .kernel = 3, .stride = 2}));
     },
     1},
    {"norm_without_scale_and_shift",
     {6, 5, 3},
     [](Value x) { return batch_norm(conv2d(x, {.channels = 4, .kernel = 1}), {.affine = false}); },
     1},
    {"two_norms",
     {6, 5, 3},
     [](Value x) { return batch_norm(batch_norm(conv2d(x, {.channels = 4, .kernel = 1}))); },
     1},
    // The activation stands between.
    {"norm_after_an_activation",
     {6, 5, 3},
     [](Value x) { return batch_norm(relu(conv2d(x, {.channels = 4, .kernel = 1}))); },
     3},
    {"norm_of_two_readers",
     {6, 5, 3},
     [](Value x) {
       const Value y = conv2d(x, {.channels = 4, .kernel = 1});
       return batch_norm(y) + y;
     },
     3},
    // What stands alone is a layer with weights of its own.
    {"norm_of_features", {7}, [](Value x) { return relu(batch_norm(x)); }, 4},
    {"norm_of_a_sequence",
     {5, 3},
     [](Value x) { return batch_norm(sigmoid(x), {.affine = false}); },
     4},
    {"transposed_in_groups",
     {3, 4, 4},
     [](Value x) {
       return batch_norm(conv_transpose2d(x, {.channels = 6, .kernel = 2, .groups = 2}));
     },
     2},
};

ir::Graph inference_graph(const Graph& g) {
  return passes::remove_dead_code(passes::specialize(g.ir(), ir::Phase::inference));
}

// The output in double precision.
std::vector<double> computed(const ir::Graph& graph, const std::vector<double>& x) {
  const ir::Graph fixed = ir::with_batch(graph, 2);
  std::map<int, ir::Bytes> sources;
  for (size_t id = 0; id < fixed.values.size(); ++id) {
    const ir::ValueData& data = fixed.values[id];
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    sources[static_cast<int>(id)] = data.role == ir::Role::input
                                        ? ir::to_bytes(x, ir::Precision::f64)
                                        : ir::to_bytes(*data.data, ir::Precision::f64);
  }
  const auto values = ir::run_reference(fixed, std::move(sources), ir::Precision::f64);
  return ir::to_doubles(values[static_cast<size_t>(fixed.outputs[0].second)], ir::Precision::f64);
}

// Rounding a weight to f32 changes it by 2^-24 of itself; sums have up to 50 terms.
constexpr double kWeightRounding = 1e-5;

TEST(fold, leaves_the_values_as_they_are) {
  std::mt19937 random(7);
  for (const FoldCase& c : kCases) {
    Graph g;
    g.output("y", c.build(g.input("x", c.sample)));
    fill(g, random);
    const ir::Graph before = inference_graph(g);
    const ir::Graph after = passes::remove_dead_code(quantizing::fold_scalings(before));
    ir::verify(after);
    EXPECT_EQ(after.nodes.size(), c.nodes) << c.name;
    for (const ir::Node& node : after.nodes) {
      EXPECT_EQ(node.op->quantized.scaling, nullptr) << c.name;
    }
    const std::vector<float> drawn = uniform(2 * c.sample.elements(), -1.0, 1.0, random);
    const std::vector<double> x(drawn.begin(), drawn.end());
    const std::vector<double> wanted = computed(before, x);
    const std::vector<double> got = computed(after, x);
    ASSERT_EQ(got.size(), wanted.size()) << c.name;
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], kWeightRounding * (1.0 + std::abs(wanted[i]))) << c.name;
    }
  }
}

// With a scale that is a power of two no rounding happens: f64 values are equal to the last bit.
TEST(fold, is_exact_where_nothing_is_rounded) {
  std::mt19937 random(8);
  Graph g;
  const Value x = g.input("x", {4, 4, 2});
  g.output("y", batch_norm(conv2d(x, {.channels = 3, .kernel = 3}), {.epsilon = 0.0}));
  fill(g, random);
  const auto set = [&](std::string_view end, const std::vector<float>& values) {
    int found = 0;
    for (ir::ValueData& data : g.ir().values) {
      if (data.producer >= 0 || !data.name->ends_with(end)) continue;
      data.data = Array(values);
      ++found;
    }
    ASSERT_EQ(found, 1) << end;
  };
  set("running_var", {4.0F, 0.25F, 1.0F});
  set("running_mean", {0.0F, 0.0F, 0.0F});
  set("batch_norm_1.weight", {1.0F, 2.0F, -0.5F});
  set("batch_norm_1.bias", {0.0F, 0.0F, 0.0F});
  const ir::Graph before = inference_graph(g);
  const ir::Graph after = quantizing::fold_scalings(before);
  const std::vector<float> drawn = uniform(2 * 32, -1.0, 1.0, random);
  EXPECT_EQ(computed(after, {drawn.begin(), drawn.end()}),
            computed(before, {drawn.begin(), drawn.end()}));
}

// A convolution of the same weights without a norm keeps them.
TEST(fold, leaves_weights_of_other_readers_alone) {
  std::mt19937 random(9);
  Graph g;
  const Value x = g.input("x", {4, 4, 2});
  const Value w = g.parameter("w", {3, 3, 3, 2}, init::zeros());
  g.output("y", batch_norm(conv2d(x, w, Value())) + conv2d(x, w, Value()));
  fill(g, random);
  const ir::Graph before = inference_graph(g);
  const ir::Graph after = passes::remove_dead_code(quantizing::fold_scalings(before));
  EXPECT_EQ(after.nodes.size(), 3U);
  const std::vector<float> drawn = uniform(2 * 32, -1.0, 1.0, random);
  const auto wanted = computed(before, {drawn.begin(), drawn.end()});
  const auto got = computed(after, {drawn.begin(), drawn.end()});
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted[i], kWeightRounding * (1.0 + std::abs(wanted[i])));
  }
}

}  // namespace
}  // namespace thimble::test::fold_test
