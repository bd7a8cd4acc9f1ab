#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "passes/passes.h"

namespace thimble::test::scaled_dot_product_attention_test {
namespace {

struct Sizes {
  int64_t n = 2, t = 5, s = 7, h = 2, g = 2, d = 3, e = 4;
};

const TensorSpec kNone{.absent = true};
const TensorSpec kRng{.shape = {6}, .dtype = DType::u32, .low = 0, .high = 4294967295.0};

OpCase attention(const char* name, const Sizes& z, const std::string& attrs = "{}",
                 const TensorSpec& mask = kNone) {
  return {.name = name,
          .inputs = {attrs.find("dropout") != std::string::npos ? kRng : kNone,
                     {.shape = {z.n, z.t, z.h, z.d}},
                     {.shape = {z.n, z.s, z.g, z.d}},
                     {.shape = {z.n, z.s, z.g, z.e}},
                     mask},
          .attrs = attrs_of("scaled_dot_product_attention", attrs),
          .expect = {{z.n, z.t, z.h, z.e}, {z.n, z.h, z.t}},
          .tolerance = 2e-5,
          .no_cotangent = {1}};
}

TensorSpec added(const Shape& shape) { return {.shape = shape}; }
TensorSpec hiding(const Shape& shape) {
  return {.shape = shape, .dtype = DType::u8, .low = 0, .high = 1};
}

}  // namespace

THIMBLE_OP_CASES(scaled_dot_product_attention) {
  const char* const causal = R"({"causal": true, "scale": 0.5})";
  const auto plain = attrs_of("scaled_dot_product_attention", "{}");
  const TensorSpec q{.shape = {2, 3, 2, 4}};
  return {
      .cases = {attention("plain", {}),
                attention("scale", {}, R"({"scale": -0.7})"),
                attention("causal", {.t = 6, .s = 6}, causal),
                attention("causal_with_more_keys", {.t = 3, .s = 6}, causal),
                attention("causal_with_fewer_keys", {.t = 6, .s = 3}, causal),
                attention("grouped_queries", {.h = 6, .g = 2}),
                attention("one_key_head", {.h = 3, .g = 1}, causal),
                attention("one_of_each", {1, 1, 1, 1, 1, 1, 1}),
                attention("batch_of_1", {.n = 1}),
                attention("no_queries", {.t = 0}),
                attention("no_batch", {.n = 0}),
                attention("no_keys", {.s = 0}),
                attention("blocks", {.n = 1, .t = 70, .s = 101, .h = 2, .g = 1, .d = 17, .e = 19}),
                attention("causal_blocks",
                          {.n = 1, .t = 130, .s = 130, .h = 1, .g = 1, .d = 8, .e = 33}, causal),
                attention("added_mask", {}, "{}", added({2, 2, 5, 7})),
                attention("one_added_mask_for_all", {}, "{}", added({1, 1, 5, 7})),
                attention("added_per_head_and_key", {}, causal, added({1, 2, 1, 7})),
                attention("hidden_keys", {.s = 9}, "{}", hiding({2, 1, 1, 9})),
                attention("hidden_pairs", {.n = 1, .t = 67, .s = 60}, "{}", hiding({1, 1, 67, 60})),
                attention("queries_that_see_nothing", {.s = 2}, "{}", hiding({2, 1, 5, 2})),
                attention("dropout", {}, R"({"dropout": 0.4, "stream": 3})"),
                attention("dropout_blocks", {.n = 1, .t = 66, .s = 50},
                          R"({"dropout": 0.5, "stream": 3})"),
                attention("dropout_of_all", {}, R"({"dropout": 1.0, "stream": 3})",
                          added({1, 1, 5, 7}))},
      .rejects =
          {{"ranks", {kNone, {.shape = {3, 4}}, q, q, kNone}, plain, "4 dimensions"},
           {"widths", {kNone, q, {.shape = {2, 3, 2, 5}}, q, kNone}, plain, "as wide as queries"},
           {"values", {kNone, q, q, {.shape = {2, 4, 2, 4}}, kNone}, plain, "as many keys"},
           {"batches",
            {kNone, q, {.shape = {1, 3, 2, 4}}, {.shape = {1, 3, 2, 4}}, kNone},
            plain,
            "one batch size"},
           {"heads",
            {kNone, q, {.shape = {2, 3, 3, 4}}, {.shape = {2, 3, 3, 4}}, kNone},
            plain,
            "divides"},
           {"mask_shape", {kNone, q, q, q, {.shape = {2, 2, 3, 4}}}, plain, "expected a mask"},
           {"mask_type",
            {kNone, q, q, q, {.shape = {1, 1, 3, 3}, .dtype = DType::i32}},
            plain,
            "mask must be floating or u8"},
           {"dropout_without_random_state",
            {kNone, q, q, q, kNone},
            attrs_of("scaled_dot_product_attention", R"({"dropout": 0.5})"),
            "random state"}},
  };
}

TEST(scaled_dot_product_attention, gives_0_to_queries_that_see_nothing) {
  Graph g;
  const Value one = g.constant("one", {1, 1, 1, 1}, {3.0F});
  const Value hidden = g.constant("hidden", {1, 1, 1, 1}, {-INFINITY});
  EXPECT_EQ(evaluate(scaled_dot_product_attention(one, one, one, hidden)),
            std::vector<float>{0.0F});
}

TEST(scaled_dot_product_attention, keeps_every_weight_at_inference) {
  Graph g;
  const Value q = g.input("q", {3, 1, 2});
  g.output("y", scaled_dot_product_attention(q, q, q, {.dropout = 0.5}));
  const ir::Graph step = passes::specialize(ir::with_batch(g.ir(), 1), ir::Phase::inference);
  ASSERT_EQ(step.nodes.size(), 1U);
  EXPECT_EQ(step.nodes[0].attrs.text().find("dropout"), std::string::npos);
}

}  // namespace thimble::test::scaled_dot_product_attention_test
