#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/function_def.h"

namespace thimble::test::multi_head_attention_test {
namespace {

Shape shape_of(Graph& g, const char* name) { return g.ir().find_source(name).shape(); }

}  // namespace

TEST(multi_head_attention, has_the_parameters_of_pytorch) {
  Graph g;
  const Value x = g.input("x", {5, 12});
  const Value y = multi_head_attention(x, {.heads = 3, .name = "a"});
  EXPECT_EQ(y.shape(), (Shape{kBatch, 5, 12}));
  EXPECT_EQ(shape_of(g, "a.in_proj_weight"), (Shape{36, 12}));
  EXPECT_EQ(shape_of(g, "a.in_proj_bias"), (Shape{36}));
  EXPECT_EQ(shape_of(g, "a.out_proj.weight"), (Shape{12, 12}));
  EXPECT_EQ(shape_of(g, "a.out_proj.bias"), (Shape{12}));
  multi_head_attention(x, {.heads = 3, .bias = false, .name = "plain"});
  EXPECT_FALSE(g.ir().find_source("plain.in_proj_bias"));
  EXPECT_FALSE(g.ir().find_source("plain.out_proj.bias"));
}

TEST(multi_head_attention, shares_keys_among_heads) {
  Graph g;
  const Value x = g.input("x", {5, 12});
  multi_head_attention(x, {.heads = 6, .kv_heads = 2, .name = "a"});
  EXPECT_EQ(shape_of(g, "a.in_proj_weight"), (Shape{20, 12}));
}

TEST(multi_head_attention, takes_keys_and_values_of_other_widths) {
  Graph g;
  const Value x = g.input("x", {5, 12});
  const Value key = g.input("key", {7, 4});
  const Value value = g.input("value", {7, 3});
  const Value y = multi_head_attention(x, key, value, {}, {.heads = 3, .name = "a"});
  EXPECT_EQ(y.shape(), (Shape{kBatch, 5, 12}));
  EXPECT_EQ(shape_of(g, "a.q_proj_weight"), (Shape{12, 12}));
  EXPECT_EQ(shape_of(g, "a.k_proj_weight"), (Shape{12, 4}));
  EXPECT_EQ(shape_of(g, "a.v_proj_weight"), (Shape{12, 3}));
  EXPECT_FALSE(g.ir().find_source("a.in_proj_weight"));
}

TEST(multi_head_attention, refuses_heads_that_do_not_fit) {
  Graph g;
  const Value x = g.input("x", {5, 12});
  EXPECT_THROW(multi_head_attention(x, {}), Error);
  EXPECT_THROW(multi_head_attention(x, {.heads = 5}), Error);
  EXPECT_THROW(multi_head_attention(x, {.heads = 6, .kv_heads = 4}), Error);
  EXPECT_THROW(multi_head_attention(g.input("flat", {12}), {.heads = 3}), Error);
}

TEST(multi_head_attention, refuses_a_part_of_the_weights) {
  Graph g;
  std::vector<Value> inputs(13);
  inputs[0] = g.input("x", {5, 12});
  inputs[6] = g.parameter("w", {12, 12}, init::zeros());
  const MultiHeadAttentionOptions options{.heads = 3};
  EXPECT_THROW(ir::find_function("multi_head_attention")->build(inputs, &options), Error);
}

}  // namespace thimble::test::multi_head_attention_test
