#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble::test::dense_test {
namespace {

const ir::ValueData& source(Graph& g, const char* name) {
  return g.ir().data(g.ir().find_source(name).id());
}

TEST(dense, adds_a_weight_of_units_by_features_and_a_bias) {
  Graph g;
  const Value y = dense(g.input("x", {7}), {.units = 3});
  EXPECT_EQ(to_string(y.shape()), "[N, 3]");
  EXPECT_EQ(source(g, "dense_1.weight").type.shape, (Shape{3, 7}));
  EXPECT_EQ(source(g, "dense_1.bias").type.shape, (Shape{3}));
}

TEST(dense, starts_as_in_pytorch) {
  Graph g;
  dense(g.input("x", {16}), {.units = 3});
  EXPECT_EQ(source(g, "dense_1.weight").init, init::torch_default());
  EXPECT_EQ(source(g, "dense_1.bias").init, init::uniform(-0.25, 0.25));
}

TEST(dense, takes_names_rules_and_no_bias) {
  Graph g;
  dense(g.input("x", {16}), {.units = 3, .bias = false, .name = "head"});
  EXPECT_TRUE(g.ir().find_source("head.weight"));
  EXPECT_FALSE(g.ir().find_source("head.bias"));
  dense(g.input("z", {16}), {.units = 3, .bias_init = init::zeros(), .name = "tail"});
  EXPECT_EQ(source(g, "tail.bias").init, init::zeros());
}

TEST(dense, keeps_the_leading_dimensions) {
  Graph g;
  EXPECT_EQ(to_string(dense(g.input("x", {5, 7}), {.units = 3}).shape()), "[N, 5, 3]");
}

TEST(dense, refuses_a_vector_and_no_units) {
  Graph g;
  const Value x = g.input("x", {7});
  const Value scalars = g.input("scalars", {});
  EXPECT_THAT([&] { dense(x, {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("set .units")));
  EXPECT_THAT([&] { dense(scalars, {.units = 3}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("flatten images first")));
}

}  // namespace
}  // namespace thimble::test::dense_test
