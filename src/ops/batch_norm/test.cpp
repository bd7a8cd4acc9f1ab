#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/op_cases.h"
#include "ir/reference.h"
#include "parallel/thread_pool.h"
#include "passes/passes.h"
#include "plan/arena.h"

namespace thimble::test::batch_norm_test {
namespace {

// Rounding of sums of up to some thousand values in float, in another order.
constexpr double kTolerance = 1e-4;

OpCase normalised(const char* name, const Shape& x, const BatchNormAttrs& attrs = {},
                  bool affine = true) {
  const Shape channels{x[-1]};
  return {.name = name,
          .inputs = {{.shape = x},
                     {.shape = channels, .absent = !affine},
                     {.shape = channels, .absent = !affine},
                     {.shape = channels, .state = true},
                     {.shape = channels, .state = true}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {x, channels, channels},
          .tolerance = kTolerance,
          .no_cotangent = {1, 2}};
}

RejectCase refused(const char* name, const Shape& x, const Shape& gamma, const char* error,
                   const BatchNormAttrs& attrs = {}) {
  return {name,
          {{.shape = x}, {.shape = gamma}, {.shape = {3}}, {.shape = {3}}, {.shape = {3}}},
          ir::Attrs::of(attrs),
          error};
}

}  // namespace

THIMBLE_OP_CASES(batch_norm) {
  // Of two values one is normalised to -1 and the other to 1 whatever they are: the gradient nearly
  // vanishes, and rounding weighs more.
  OpCase two_values = normalised("two_values_a_channel", {1, 1, 2, 5});
  two_values.tolerance = 1e-3;
  // Scales at which all three pieces of the activation occur.
  OpCase relu6 = normalised("relu6", {4, 3, 3, 21}, {.activation = Activation::relu6});
  relu6.inputs[1] = {.shape = {21}, .low = 4.0, .high = 9.0};
  return {
      .cases =
          {
              normalised("one_channel", {3, 5, 7, 1}),
              normalised("three_channels", {3, 5, 7, 3}),
              normalised("four_channels_of_the_vae", {8, 14, 14, 4}),
              normalised("eight_channels", {3, 7, 7, 8}),
              normalised("ten_channels", {3, 5, 5, 10}),
              normalised("vectors", {9, 33}),
              normalised("many_channels", {2, 3, 3, 130}),
              normalised("hundreds_of_channels", {11, 300}),
              normalised("wide_rows_and_a_part_of_one", {40, 33}),
              normalised("many_blocks", {3, 41, 50, 6}),
              normalised("many_blocks_of_one_channel", {40000, 1}),
              two_values,
              normalised("without_scale_and_shift", {4, 3, 3, 5}, {}, false),
              normalised("epsilon", {4, 3, 3, 5}, {.epsilon = 0.5}),
              normalised("relu", {4, 3, 3, 5}, {.activation = Activation::relu}),
              relu6,
              normalised("empty_batch", {0, 3, 3, 5}),
          },
      .rejects =
          {
              refused("a_vector", {3}, {3}, "expected x [N, ..., C]"),
              refused("a_gamma_of_another_size", {4, 3}, {4}, "expected gamma of shape [3]"),
              refused("a_momentum_above_1", {4, 3}, {3}, "momentum of 0 to 1", {.momentum = 1.5}),
              {"one_running_statistic",
               {{.shape = {4, 3}},
                {.shape = {3}},
                {.shape = {3}},
                {.shape = {3}},
                {.shape = {3}, .absent = true}},
               ir::Attrs::of(BatchNormAttrs{}),
               "expected both running statistics or none"},
              refused("a_negative_epsilon", {4, 3}, {3}, "epsilon of at least 0",
                      {.epsilon = -1.0}),
          },
  };
}

THIMBLE_OP_CASES(batch_norm_update) {
  const auto update = [](const char* name, double momentum, int64_t values,
                         const char* biased = "false") {
    const TensorSpec state{.shape = {5}, .low = 0.5, .state = true};
    const TensorSpec statistic{.shape = {5}, .low = 0.5};
    return OpCase{.name = name,
                  .inputs = {state, state, statistic, statistic},
                  .attrs = attrs_of("batch_norm_update",
                                    fmt::format(R"({{"momentum": {}, "values": {}, "biased": {}}})",
                                                momentum, values, biased)),
                  .expect = {{5}, {5}}};
  };
  return {.cases = {update("moves_by_momentum", 0.1, 8), update("of_two_values", 0.5, 2),
                    update("biased", 0.5, 2, "true")},
          .rejects = {{.name = "statistics_of_other_channels",
                       .inputs = {{.shape = {5}}, {.shape = {5}}, {.shape = {4}}, {.shape = {5}}},
                       .error = "expected mean of shape [5]"}}};
}

THIMBLE_OP_CASES(batch_norm_cumulative_update) {
  const TensorSpec state{.shape = {5}, .low = 0.5, .state = true};
  const TensorSpec count{.shape = {}, .low = 3.0, .high = 9.0, .state = true};
  const TensorSpec statistic{.shape = {5}, .low = 0.5};
  return {.cases = {{.name = "means_over_batches",
                     .inputs = {state, state, count, statistic, statistic},
                     .attrs = attrs_of("batch_norm_cumulative_update", R"({"values": 8})"),
                     .expect = {{5}, {5}, {}}}},
          .rejects = {
              {.name = "a_count_of_several_numbers",
               .inputs =
                   {{.shape = {5}}, {.shape = {5}}, {.shape = {2}}, {.shape = {5}}, {.shape = {5}}},
               .error = "expected one number as the count"}}};
}

namespace {

// One node of a graph run by its fast kernel on contents by value number, on one thread.
std::vector<float> run_fast(const ir::Graph& graph, const ir::Node& node, int output,
                            const std::map<int, std::vector<float>>& contents) {
  const ir::Params params = plan::kernel_params(graph, node);
  std::vector<const void*> sources;
  for (int id : node.inputs) sources.push_back(id < 0 ? nullptr : contents.at(id).data());
  sources.resize(node.op->signature.inputs.size(), nullptr);
  std::vector<std::vector<float>> results;
  std::vector<void*> destinations;
  for (int id : node.outputs) {
    results.emplace_back(static_cast<size_t>(graph.type(id).shape.elements()));
    destinations.push_back(results.back().data());
  }
  std::vector<std::byte> workspace(static_cast<size_t>(node.op->kernels.workspace(params, 1)));
  parallel::ThreadPool pool(1);
  node.op->kernels.fast({destinations.data(), sources.data(), workspace.data(),
                         params.bytes().data(), static_cast<int>(node.inputs.size()),
                         static_cast<int>(node.outputs.size()), &pool});
  return results[static_cast<size_t>(output)];
}

// E[x^2] - mean^2 would lose all digits here: the squares differ from 1e8 by 1 in 1e8.
TEST(batch_norm, keeps_its_accuracy_when_the_mean_is_far_from_zero) {
  constexpr double kMean = 1e4;
  // The inputs themselves are rounded to 1e-3 of the standard deviation.
  constexpr double kRelative = 1e-4;
  Graph g;
  ir::Graph& graph = g.ir();
  const Value x = graph.source("x", {DType::f32, {30000, 2}}, ir::Role::input);
  batch_norm(x);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(kMean, 1.0);
  std::map<int, std::vector<float>> contents;
  contents[x.id()].resize(60000);
  for (float& v : contents[x.id()]) v = static_cast<float>(normal(random));
  for (int id : graph.nodes[0].inputs) contents.emplace(id, std::vector<float>{1.0F, 1.0F});
  double mean = 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < 60000; i += 2) mean += contents[x.id()][i] / 30000.0;
  for (size_t i = 0; i < 60000; i += 2) squares += std::pow(contents[x.id()][i] - mean, 2);
  const double variance = squares / 30000.0;
  EXPECT_NEAR(run_fast(graph, graph.nodes[0], 1, contents)[0], mean, kRelative);
  EXPECT_NEAR(run_fast(graph, graph.nodes[0], 2, contents)[0], variance, kRelative * variance);
}

TEST(batch_norm, adds_parameters_and_running_statistics) {
  Graph g;
  batch_norm(g.input("x", {4, 4, 6}));
  for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
    EXPECT_EQ(g.ir().find_source(std::string("batch_norm_1.") + name).shape(), (Shape{6})) << name;
  }
  EXPECT_EQ(g.ir().data(g.ir().find_source("batch_norm_1.running_var").id()).init, init::ones());
}

TEST(batch_norm, reads_the_running_statistics_at_inference_and_changes_nothing) {
  Graph g;
  g.output("y", batch_norm(g.input("x", {4, 4, 6})));
  const ir::Graph graph =
      passes::remove_dead_code(passes::specialize(ir::with_batch(g.ir(), 1), ir::Phase::inference));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_STREQ(graph.nodes[0].op->name, "batch_norm_inference");
}

TEST(batch_norm, uses_the_statistics_of_the_batch_where_it_tracks_none) {
  Graph g;
  g.output("y", batch_norm(g.input("x", {4, 4, 6}), {.track_running_stats = false}));
  const ir::Graph graph =
      passes::remove_dead_code(passes::specialize(ir::with_batch(g.ir(), 2), ir::Phase::inference));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_STREQ(graph.nodes[0].op->name, "batch_norm");
  EXPECT_FALSE(g.ir().find_source("batch_norm_1.running_mean"));
  EXPECT_THAT(
      [&] { batch_norm(g.input("z", {6}), {.track_running_stats = false, .cumulative = true}); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("leave track_running_stats on")));
}

TEST(batch_norm, refuses_to_train_on_one_value_a_channel) {
  Graph g;
  g.output("y", batch_norm(g.input("x", {6})));
  const ir::Graph one = ir::with_batch(g.ir(), 1);
  EXPECT_THAT([&] { return passes::specialize(one, ir::Phase::training); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("take a larger batch")));
  EXPECT_NO_THROW((void)passes::specialize(one, ir::Phase::inference));
  EXPECT_NO_THROW((void)passes::specialize(ir::with_batch(g.ir(), 2), ir::Phase::training));
}

}  // namespace
}  // namespace thimble::test::batch_norm_test
