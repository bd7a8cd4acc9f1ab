#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::rotary_embedding_test {

THIMBLE_OP_CASES(rotate_pairs) {
  const auto halves = attrs_of("rotate_pairs", "{}");
  const auto neighbours = attrs_of("rotate_pairs", R"({"interleaved": true})");
  const auto back = attrs_of("rotate_pairs", R"({"interleaved": true, "inverse": true})");
  return {
      .cases = {{.name = "halves",
                 .inputs = {{.shape = {2, 3, 2, 6}}, {.shape = {3, 2, 3}}},
                 .attrs = halves,
                 .expect = {{2, 3, 2, 6}},
                 .no_grad = {1}},
                {.name = "neighbours",
                 .inputs = {{.shape = {2, 3, 2, 6}}, {.shape = {3, 2, 3}}},
                 .attrs = neighbours,
                 .no_grad = {1}},
                {.name = "back",
                 .inputs = {{.shape = {2, 3, 7}}, {.shape = {3, 2, 2}}},
                 .attrs = back,
                 .no_grad = {1}},
                {.name = "a_part",
                 .inputs = {{.shape = {1, 2, 3, 2, 5}}, {.shape = {2, 2, 1}}},
                 .attrs = halves,
                 .no_grad = {1}},
                {.name = "no_batch",
                 .inputs = {{.shape = {0, 3, 4}}, {.shape = {3, 2, 2}}},
                 .attrs = halves,
                 .no_grad = {1}},
                {.name = "many",
                 .inputs = {{.shape = {3, 40, 6, 64}}, {.shape = {40, 2, 32}}},
                 .attrs = halves,
                 .no_grad = {1}}},
      .rejects = {{"too_few_dimensions",
                   {{.shape = {2, 3}}, {.shape = {3, 2, 1}}},
                   halves,
                   "x [N, T, ..., D]"},
                  {"too_many_pairs",
                   {{.shape = {2, 3, 5}}, {.shape = {3, 2, 3}}},
                   halves,
                   "at most D / 2 pairs"}},
  };
}

TEST(rotary_embedding, shares_a_table_and_refuses_what_cannot_be_paired) {
  Graph g;
  const Value x = g.input("x", {4, 2, 6});
  rotary_embedding(x);
  const size_t values = g.ir().values.size();
  rotary_embedding(x, {.interleaved = true});
  EXPECT_EQ(g.ir().values.size(), values + 1);
  EXPECT_THROW(rotary_embedding(x, {.width = 3}), Error);
  EXPECT_THROW(rotary_embedding(x, {.width = 8}), Error);
  EXPECT_THROW(rotary_embedding(x, {.base = 0.0}), Error);
  EXPECT_THROW(rotary_embedding(g.input("flat", {4})), Error);
}

// Products of queries and keys depend on the distance of their positions alone.
TEST(rotary_embedding, is_relative) {
  Graph g;
  const std::vector<float> row = {0.3F, -1.2F, 0.7F, 0.5F};
  const Value x = g.constant("x", {1, 1, 4}, row);
  for (const bool interleaved : {false, true}) {
    const auto at = [&](int64_t offset) {
      return evaluate(rotary_embedding(x, {.interleaved = interleaved, .offset = offset}));
    };
    const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
      float sum = 0.0F;
      for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    EXPECT_NEAR(product(at(2), at(5)), product(at(40), at(43)), 1e-5F);
    EXPECT_GT(std::abs(product(at(2), at(5)) - product(at(2), at(6))), 1e-3F);
  }
}

}  // namespace thimble::test::rotary_embedding_test
