#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::positional_encoding_test {

TEST(positional_encoding, adds_sines_and_cosines) {
  Graph g;
  const Value x = g.constant("x", {1, 2, 3}, std::vector<float>(6, 1.0F));
  const float slow = std::pow(10000.0F, -2.0F / 3.0F);
  const std::vector<float> want = {
      1.0F, 2.0F, 1.0F, 1.0F + std::sin(1.0F), 1.0F + std::cos(1.0F), 1.0F + std::sin(slow)};
  const std::vector<float> y = evaluate(positional_encoding(x));
  ASSERT_EQ(y.size(), want.size());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], want[i], 1e-6F);
}

TEST(positional_encoding, shares_a_table_and_refuses_other_shapes) {
  Graph g;
  const Value x = g.input("x", {4, 6});
  positional_encoding(x);
  const size_t values = g.ir().values.size();
  positional_encoding(x);
  EXPECT_EQ(g.ir().values.size(), values + 1);
  EXPECT_THROW(positional_encoding(g.input("flat", {4})), Error);
  EXPECT_THROW(positional_encoding(x, {.base = -1.0}), Error);
}

}  // namespace thimble::test::positional_encoding_test
