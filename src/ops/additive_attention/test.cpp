#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/function_def.h"

namespace thimble::test::additive_attention_test {

TEST(additive_attention, makes_its_parameters) {
  Graph g;
  const Value query = g.input("query", {5, 3});
  const Value key = g.input("key", {7, 2});
  const Value value = g.input("value", {7, 6});
  const Value y = additive_attention(query, key, value, {.units = 4, .name = "a"});
  EXPECT_EQ(y.shape(), (Shape{kBatch, 5, 6}));
  EXPECT_EQ(g.ir().find_source("a.query_weight").shape(), (Shape{4, 3}));
  EXPECT_EQ(g.ir().find_source("a.key_weight").shape(), (Shape{4, 2}));
  EXPECT_EQ(g.ir().find_source("a.bias").shape(), (Shape{4}));
  EXPECT_EQ(g.ir().find_source("a.score_weight").shape(), (Shape{1, 4}));
}

TEST(additive_attention, refuses_what_does_not_fit) {
  Graph g;
  const Value x = g.input("x", {5, 3});
  EXPECT_THROW(additive_attention(x, x, x, {}), Error);
  EXPECT_THROW(additive_attention(x, x, g.input("value", {4, 3}), {.units = 2}), Error);
  EXPECT_THROW(additive_attention(x, g.input("flat", {3}), x, {.units = 2}), Error);
}

TEST(additive_attention, refuses_a_part_of_the_weights) {
  Graph g;
  std::vector<Value> inputs(8);
  inputs[0] = g.input("x", {5, 12});
  inputs[1] = inputs[2] = inputs[0];
  inputs[5] = g.parameter("w", {12, 12}, init::zeros());
  const AdditiveAttentionOptions options{.units = 3};
  EXPECT_THROW(ir::find_function("additive_attention")->build(inputs, &options), Error);
}

}  // namespace thimble::test::additive_attention_test
