#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/sum_to/attrs.h"

namespace thimble::test::sum_to_test {
namespace {

ir::Attrs to(const Shape& shape) { return ir::Attrs::of(SumToAttrs{shape}); }

// Of sums of 256 numbers one after another the rounding error is 2.9e-7, relative to their norm.
constexpr double kRounding = 2e-7;

// As gradients of biases are: thousands of rows are added.
TEST(sum_to, rounds_little_over_many_rows) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  for (const int64_t rows : {256, 4099}) {
    for (const int64_t columns : {384, 137, 20}) {
      std::vector<float> x(static_cast<size_t>(rows * columns));
      for (float& value : x) value = uniform(random);
      const auto y = values_of<float>(
          run_op("sum_to", to({columns}), {tensor({rows, columns}, x)}, Kernel::fast)[0]);
      double error = 0.0;
      double norm = 0.0;
      for (size_t c = 0; c < y.size(); ++c) {
        double exact = 0.0;
        for (size_t at = c; at < x.size(); at += y.size()) exact += static_cast<double>(x[at]);
        error += (static_cast<double>(y[c]) - exact) * (static_cast<double>(y[c]) - exact);
        norm += exact * exact;
      }
      EXPECT_LT(std::sqrt(error / norm), kRounding) << rows << " rows of " << columns;
    }
  }
}

}  // namespace

THIMBLE_OP_CASES(sum_to) {
  return {.cases = {{"scalar", {{.shape = {3, 7}}}, to({}), {{}}},
                    {"bias", {{.shape = {5, 3, 7}}}, to({7}), {{7}}},
                    {"column", {{.shape = {4, 37}}}, to({4, 1}), {{4, 1}}},
                    {"middle", {{.shape = {2, 3, 4}}}, to({2, 1, 4}), {{2, 1, 4}}},
                    {"outside", {{.shape = {2, 3, 4}}}, to({3, 1}), {{3, 1}}},
                    {"nothing", {{.shape = {2, 3}}}, to({2, 3}), {{2, 3}}},
                    {"empty", {{.shape = {0, 4}}}, to({4}), {{4}}},
                    {"many_rows", {{.shape = {1031, 17}}}, to({17}), {{17}}},
                    {"long_row", {{.shape = {3, 20011}}}, to({3, 1}), {{3, 1}}},
                    {"wide", {{.shape = {9, 3001}}}, to({3001}), {{3001}}}},
          .rejects = {{"other_size", {{.shape = {2, 3}}}, to({2}), "broadcasts to"},
                      {"more_axes", {{.shape = {3}}}, to({2, 3}), "broadcasts to"},
                      {"doubles", {{.shape = {2}, .dtype = DType::f64}}, to({}), "cast first"}}};
}

}  // namespace thimble::test::sum_to_test
