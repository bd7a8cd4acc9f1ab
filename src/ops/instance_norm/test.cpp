#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "ops/families/norm/norm_cases.h"
#include "ops/instance_norm/attrs.h"
#include "passes/passes.h"

namespace thimble::test::instance_norm_test {
namespace {

OpCase normalised(const char* name, const Shape& x, bool affine = true, bool tracked = true) {
  OpCase test = channel_norm_case(name, x, x[-1], affine, ir::Attrs::of(InstanceNormAttrs{}));
  const TensorSpec running{.shape = {x[-1]}, .absent = !tracked, .state = true};
  test.inputs.insert(test.inputs.end(), 2, running);
  return test;
}

}  // namespace

THIMBLE_OP_CASES(instance_norm) {
  return {
      .cases = {normalised("images", {3, 5, 7, 6}), normalised("sequences", {2, 9, 33}),
                normalised("large_images", {2, 41, 50, 10}),
                normalised("without_parameters", {3, 4, 4, 6}, false, false),
                normalised("no_images", {0, 3, 3, 4}), normalised("empty_images", {2, 0, 3, 4})},
      .rejects = {{"a_vector", {{.shape = {6}}}, {}, "expected x [N, ..., C]"},
                  {"one_running_statistic",
                   {{.shape = {2, 3, 6}},
                    {.absent = true},
                    {.absent = true},
                    {.shape = {6}, .state = true}},
                   ir::Attrs::of(InstanceNormAttrs{}),
                   "both running statistics"},
                  {"another_gamma",
                   {{.shape = {2, 3, 4}}, {.shape = {3}}},
                   ir::Attrs::of(InstanceNormAttrs{}),
                   "expected gamma of shape [4]"}},
  };
}

THIMBLE_OP_CASES(instance_norm_update) {
  const TensorSpec running{.shape = {5}, .low = 0.5, .state = true};
  const TensorSpec statistic{.shape = {3, 5}, .low = 0.5};
  const auto attrs = [](double momentum) {
    return ir::Attrs::of(ops::InstanceNormUpdateAttrs{momentum, 8});
  };
  return {.cases = {{"moves_by_momentum",
                     {running, running, statistic, statistic},
                     attrs(0.1),
                     {{5}, {5}}}},
          .rejects = {{"other_channels",
                       {running, running, {.shape = {3, 4}}, {.shape = {3, 4}}},
                       attrs(0.1),
                       "of each image and channel"},
                      {"momentum_above_1",
                       {running, running, statistic, statistic},
                       attrs(1.5),
                       "momentum of 0 to 1"}}};
}

namespace {

ir::Graph specialised(const InstanceNormOptions& options, const Shape& sample, ir::Phase phase) {
  Graph g;
  g.output("y", instance_norm(g.input("x", sample), options));
  return passes::remove_dead_code(passes::specialize(ir::with_batch(g.ir(), 2), phase));
}

TEST(instance_norm, reads_running_statistics_at_inference_where_it_tracks_them) {
  const auto op_at_inference = [](const InstanceNormOptions& options) {
    const ir::Graph graph = specialised(options, {4, 4, 6}, ir::Phase::inference);
    EXPECT_EQ(graph.nodes.size(), 1U);
    return std::string(graph.nodes[0].op->name);
  };
  EXPECT_EQ(op_at_inference({.track_running_stats = true}), "batch_norm_inference");
  EXPECT_EQ(op_at_inference({}), "instance_norm");
}

TEST(instance_norm, refuses_images_of_one_position) {
  EXPECT_THAT(
      [] {
        (void)specialised({}, {1, 1, 6}, ir::Phase::training);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("one position")));
  EXPECT_THAT([] { (void)specialised({}, {6}, ir::Phase::inference); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("one position")));
  EXPECT_NO_THROW((void)specialised({.track_running_stats = true}, {6}, ir::Phase::inference));
}

}  // namespace
}  // namespace thimble::test::instance_norm_test
