#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::pad_test {
namespace {

ir::Attrs around(std::vector<int64_t> before, std::vector<int64_t> after, double value = 0.0) {
  return ir::Attrs::of(PadOptions{std::move(before), std::move(after), value});
}

}  // namespace

THIMBLE_OP_CASES(pad) {
  const TensorSpec x{.shape = {3, 5}};
  return {
      .cases = {{"images",
                 {{.shape = {2, 3, 4, 2}}},
                 around({0, 1, 2, 0}, {0, 2, 0, 0}),
                 {{2, 6, 6, 2}}},
                {"value", {x}, around({1, 0}, {0, 2}, -2.5), {{4, 7}}},
                {"nothing", {x}, around({0, 0}, {0, 0}), {{3, 5}}},
                {"batch_of_1", {{.shape = {1, 4}}}, around({0, 3}, {0, 1}), {{1, 8}}},
                {"scalar", {{.shape = {}}}, around({}, {}), {{}}},
                {"empty", {{.shape = {0, 4}}}, around({2, 0}, {1, 1}, 7.0), {{3, 5}}}},
      .rejects =
          {{"too_few", {x}, around({1}, {1}), "expected 2 numbers before and after"},
           {"negative", {x}, around({0, 0}, {0, -1}), "at least 0"},
           {"huge", {x}, around({0, 0}, {0, int64_t{1} << 40}), "below 2^31"},
           {"doubles", {{.shape = {3}, .dtype = DType::f64}}, around({1}, {1}), "cast first"}},
  };
}

TEST(pad, surrounds_quantized_numbers_with_what_stands_for_the_value) {
  const Quantization q{.scales = {0.5F}, .zero_points = {-3}};
  const Tensor x = quantized_tensor<int8_t>(DType::i8, {2}, {7, -128}, q);
  const auto padded = [&](double value) {
    return values_of<int8_t>(run_op("pad", around({1}, {1}, value), {x}, Kernel::fast)[0]);
  };
  EXPECT_EQ(padded(0.0), (std::vector<int8_t>{-3, 7, -128, -3}));
  EXPECT_EQ(padded(1.5), (std::vector<int8_t>{0, 7, -128, 0}));
  EXPECT_THROW(padded(100.0), Error);
  Graph g;
  const Value y = pad(g.input("x", {4}, DType::i8, q), {.before = {0, 1}, .after = {0, 0}});
  EXPECT_EQ(*y.quantization(), q);
}

}  // namespace thimble::test::pad_test
