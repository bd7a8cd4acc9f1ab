#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/binary/binary_cases.h"

namespace thimble::test::div_test {
namespace {

const std::vector<float> kNumbers = {0.1F, -7.0F, 1e-10F, 3e38F, 5e-39F, 0.0F};

Value numbers(Graph& g) {
  return g.constant("x", {static_cast<int64_t>(kNumbers.size())}, kNumbers);
}

}  // namespace

THIMBLE_OP_CASES(div) {
  return {.cases = binary_cases({}, {.gap = 0.3}), .rejects = binary_rejects()};
}

TEST(div, of_tensors_and_numbers_is_rounded_once) {
  Graph g;
  const Value x = numbers(g);
  for (const double c : {3.0, -0.7, 2.0, 0.125, 1e-39, 1e38, 255.0}) {
    const auto number = static_cast<float>(c);
    const std::vector<float> by_number = evaluate(x / c);
    const std::vector<float> of_number = evaluate(c / x);
    for (size_t i = 0; i < kNumbers.size(); ++i) {
      EXPECT_EQ(by_number[i], kNumbers[i] / number) << kNumbers[i] << " / " << c;
      EXPECT_EQ(of_number[i], number / kNumbers[i]) << c << " / " << kNumbers[i];
    }
  }
}

TEST(div, by_a_number_keeps_the_type) {
  Graph g;
  const Value half = g.input("half", {3}, DType::f16);
  EXPECT_EQ((half / 3.0).dtype(), DType::f16);
  EXPECT_EQ((3.0 / half).dtype(), DType::f16);
}

}  // namespace thimble::test::div_test
