#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "passes/passes.h"

namespace thimble::test::nearest_centroid_test {

THIMBLE_OP_CASES(nearest_centroid) {
  const auto of = [](const char* name, int64_t rows, int64_t size, int64_t classes) {
    return OpCase{.name = name,
                  .inputs = {{.shape = {rows, size}},
                             {.shape = {classes, size}},
                             {.shape = {classes}, .low = 1.0, .high = 9.0}},
                  .expect = {{rows, classes}}};
  };
  const TensorSpec x{.shape = {3, 4}};
  return {
      .cases = {of("few", 3, 5, 4), of("one_class", 3, 5, 1), of("many", 130, 70, 10),
                of("no_rows", 0, 5, 4), of("no_features", 3, 0, 4)},
      .rejects = {{"features", {x, {.shape = {2, 5}}, {.shape = {2}}}, {}, "as many features"},
                  {"counts", {x, {.shape = {2, 4}}, {.shape = {3}}}, {}, "one count a class"},
                  {"images",
                   {{.shape = {2, 2, 4}}, {.shape = {2, 4}}, {.shape = {2}}},
                   {},
                   "2 dimensions"}},
  };
}

THIMBLE_OP_CASES(nearest_centroid_update) {
  const auto of = [](const char* name, int64_t rows) {
    return OpCase{.name = name,
                  .inputs = {{.shape = {4, 5}, .state = true},
                             {.shape = {4}, .state = true},
                             {.shape = {rows, 5}},
                             {.shape = {rows}, .dtype = DType::i32, .low = -1, .high = 4}},
                  .expect = {{4, 5}, {4}}};
  };
  return {.cases = {of("adds_samples", 9), of("no_rows", 0)},
          .rejects = {{"labels",
                       {{.shape = {4, 5}},
                        {.shape = {4}},
                        {.shape = {3, 5}},
                        {.shape = {4}, .dtype = DType::i32}},
                       {},
                       "one label a row"}}};
}

namespace {

TEST(nearest_centroid, is_minus_infinity_for_a_class_without_samples) {
  const auto y =
      run_op("nearest_centroid", {},
             {tensor({1, 1}, {3}), tensor({2, 1}, {2, 9}), tensor({2}, {2, 0})}, Kernel::fast);
  EXPECT_EQ(values_of<float>(y[0]), (std::vector<float>{-4, -INFINITY}));
}

TEST(nearest_centroid, needs_no_labels_at_inference) {
  Graph g;
  const Value x = g.input("x", {6});
  g.output("scores", nearest_centroid(x, g.label("digit"), {.classes = 10}));
  EXPECT_EQ(g.ir().find_source("nearest_centroid_1.sums").shape(), (Shape{10, 6}));
  const ir::Graph graph =
      passes::remove_dead_code(passes::specialize(ir::with_batch(g.ir(), 1), ir::Phase::inference));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_STREQ(graph.nodes[0].op->name, "nearest_centroid");
  EXPECT_THAT([&] { nearest_centroid(x, {}, NearestCentroidOptions{}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("at least one class")));
}

}  // namespace
}  // namespace thimble::test::nearest_centroid_test
