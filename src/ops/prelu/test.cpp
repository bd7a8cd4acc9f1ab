#include <gtest/gtest.h>

#include "harness/op_cases.h"

namespace thimble::test::prelu_test {

THIMBLE_OP_CASES(prelu) {
  constexpr double kTolerance = 1e-4;  // of long sums in another order
  const auto of = [](const char* name, const Shape& x, int64_t slopes) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .gap = 0.01}, {.shape = {slopes}}},
                  .expect = {x},
                  .tolerance = kTolerance};
  };
  return {
      .cases = {of("one_slope", {3, 5, 7}, 1), of("channels", {3, 5, 7}, 7),
                of("many_channels", {9, 131}, 131), of("many_rows", {40, 40, 40, 6}, 6),
                of("long_vector", {70001}, 1), of("scalar", {}, 1), of("empty", {0, 4}, 4),
                of("no_channels", {4, 0}, 1)},
      .rejects = {{"another_weight", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "a weight [1], or"},
                  {"matrix", {{.shape = {3, 4}}, {.shape = {1, 4}}}, {}, "a weight [1], or"},
                  {"integers",
                   {{.shape = {2}, .dtype = DType::i32}, {.shape = {1}}},
                   {},
                   "must be floating"}},
  };
}

TEST(prelu, makes_a_layer_of_one_slope_or_one_a_channel) {
  Graph g;
  const Value x = g.input("x", {4, 6});
  prelu(x);
  EXPECT_EQ(g.ir().find_source("prelu_1.weight").shape(), (Shape{1}));
  EXPECT_EQ(g.ir().data(g.ir().find_source("prelu_1.weight").id()).init, init::constant(0.25));
  prelu(x, PreluOptions{.per_channel = true});
  EXPECT_EQ(g.ir().find_source("prelu_2.weight").shape(), (Shape{6}));
}

}  // namespace thimble::test::prelu_test
