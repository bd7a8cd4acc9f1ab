#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/function_def.h"

namespace thimble::test::multi_head_attention_test {
namespace {

Shape shape_of(Graph& g, const char* name) { return g.ir().find_source(name).shape(); }

// Weights that project nothing but by one, of width 2.
MultiHeadAttentionWeights ones(Graph& g) {
  std::vector<float> packed;
  for (int i = 0; i < 3; ++i) packed.insert(packed.end(), {1, 0, 0, 1});
  return {.in_proj_weight = g.constant("in", {6, 2}, packed),
          .out_proj_weight = g.constant("out", {2, 2}, {1, 0, 0, 1})};
}

// The attention weights of steps 0 to 2 where a mask of f32 or u8 hides step 0 from all.
std::vector<float> weights_with_hidden_first(DType dtype) {
  Graph g;
  const Value x = g.constant("x", {1, 3, 2}, {1, 2, -1, 0.5F, 0.25F, 3});
  const Value mask = dtype == DType::f32
                         ? g.constant("mask", {1, 1, 1, 3}, {-INFINITY, 0, 0})
                         : g.constant("mask", Array(std::vector<uint8_t>{0, 1, 1}, {1, 1, 1, 3}));
  return evaluate(multi_head_attention_with_weights(x, x, x, mask, ones(g),
                                                    {.heads = 1, .causal = true, .bias = false})
                      .weights);
}

}  // namespace

TEST(multi_head_attention, never_attends_to_later_steps) {
  const std::vector<float> added = weights_with_hidden_first(DType::f32);
  for (int s = 0; s < 3; ++s) EXPECT_TRUE(std::isnan(added[s])) << s;  // sees nothing, as PyTorch
  const std::vector<float> shown = weights_with_hidden_first(DType::u8);
  for (int s = 0; s < 3; ++s) EXPECT_EQ(shown[s], 0.0F) << s;
  for (const std::vector<float>& weights : {added, shown}) {
    EXPECT_EQ(weights[3], 0.0F);
    EXPECT_EQ(weights[4], 1.0F);
    EXPECT_EQ(weights[5], 0.0F);
    EXPECT_EQ(weights[6], 0.0F);
    EXPECT_FLOAT_EQ(weights[7] + weights[8], 1.0F);
  }
}

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
